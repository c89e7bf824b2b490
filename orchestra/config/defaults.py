"""What holds when nothing is configured."""

from __future__ import annotations

from orchestra.config.settings import EXTRACTIVE, OPENAI, Endpoint, Tier

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"

# Both windows are 1,050,000 tokens, but a prompt of more than 272,000 costs twice as much a token
# (developers.openai.com/api/docs/pricing and genai-prices 0.2.3, November 2026); `window` can be raised.
OPENAI_WINDOW = 272_000

# gpt-6-luna takes function tools in chat completions only when its effort is "none" (the API's own 400 says
# so); gpt-6.1-sol knows no "none", so the tier that calls tools is the small one.
OPENAI_TIERS = {
    "small": Tier(endpoint=OPENAI, model="gpt-6-luna", window=OPENAI_WINDOW, reasoning_effort="none"),
    "large": Tier(endpoint=OPENAI, model="gpt-6.1-sol", window=OPENAI_WINDOW),
}
EXTRACTIVE_TIER = Tier(endpoint=EXTRACTIVE, model=EXTRACTIVE)
EXTRACTIVE_TIERS = {"small": EXTRACTIVE_TIER, "large": EXTRACTIVE_TIER}
OPENAI_ENDPOINT = Endpoint(url=OPENAI_URL, key_env=OPENAI_KEY)
