"""What other programs write into their agent files: known here so that such a file loads as it is."""

from __future__ import annotations

# Claude Code, Copilot, Cursor, OpenCode and Gemini CLI, as their documentation listed them in November 2026.
_KEYS = """
    color icon emoji tags category version license author metadata display_name displayName kind target
    permissionMode permission disallowedTools maxTurns max_turns timeout_mins steps skills mcpServers
    mcp-servers mcp_servers hooks memory background is_background isolation effort initialPrompt
    disabled disable hidden mode temperature top_p readonly infer handoffs agents argument-hint
    user-invocable disable-model-invocation allowed-tools reasoningEffort
"""
IGNORED_KEYS = frozenset(_KEYS.split())
INSTEAD = {
    "disallowedTools": "name the tools that are allowed in tools",
    "allowed-tools": "name them in tools",
    "maxTurns": "use limits: {steps: ...}",
    "max_turns": "use limits: {steps: ...}",
    "steps": "use limits: {steps: ...}",
    "timeout_mins": "use limits: {seconds: ...}",
    "temperature": "set it for a tier in orchestra.toml",
    "effort": "set reasoning_effort for a tier in orchestra.toml",
    "reasoningEffort": "set reasoning_effort for a tier in orchestra.toml",
}
_TOOLS = """
    Agent Task Bash BashOutput Edit MultiEdit Write Read Glob Grep LS NotebookEdit NotebookRead WebFetch
    WebSearch TodoWrite TodoRead KillShell KillBash Skill SlashCommand ExitPlanMode AskUserQuestion LSP
    Monitor ToolSearch
"""
TOOLS = frozenset(_TOOLS.split())
# Size words of one family of models, by the tier that does the same work here.
SIZES = {"haiku": "small", "sonnet": "large", "opus": "large"}


def is_foreign_tool(name: str) -> bool:
    """Whether a tool's name is one of another program's."""
    return name in TOOLS or name.startswith("mcp__")
