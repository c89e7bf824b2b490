"""How people state things of themselves, of what has a name, and what binds; English and Chinese."""

from __future__ import annotations

import re

SECRET = re.compile(
    r"(?i)\b(?:pass(?:word|phrase|code|wd)|pin(?: code| number)?|secret|api[ _-]?keys?|access[ _-]?tokens?"
    r"|tokens?|credentials?|private key|cvv|cvc|ssn|social security|credit card|card number|iban|otp)\b"
    r"|密码|口令|密钥|秘钥|验证码|信用卡|身份证|银行卡|令牌|暗号"
)
LEAD = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|also|ok(?:ay)?|well|hi|hello|by the way|actually|correction|sorry|please"
    r"|note|for the record|to be clear|fyi|oh)\b[,: ]*"
    r"|(?:remember|note|keep in mind|don't forget)(?: that)?\b[,: ]*"
    r"|(?:另外|还有|其实|更正|对了|请|顺便说一下|注意)[，,：: ]*|(?:请?记住|记一下|别忘了)[，,：: ]*)+"
)
TO_REMEMBER = re.compile(
    r"(?i)^\W*(?:please\s+)?(?:remember|note|keep in mind|don't forget|for the record)\b"
    r"(?! (?:to|when|how|what|me|the time|that time)\b)|记住|记一下|别忘了"
)

# -- facts under a key ---------------------------------------------------------------------------------------

IS = re.compile(
    r"(?i)^(?P<whose>my|our|the|his|her|their|this)\s+(?P<key>[^,;:.!?\"\s]+(?:\s+[^,;:.!?\"\s]+){0,5}?)\s*"
    r"(?:\b(?P<verb>is|are|was|were|will be|has changed to|changed to)\b(?: now)?(?: called| named)?|=|:)"
    r"\s*(?P<value>.+)$",
    re.DOTALL,
)
TOLD = re.compile(
    r"(?i)\b(?:should|could|would|can|may|might|will|must|has|have|had|does|did|do|that|which|who|if|best"
    r"|worst|favou?rite part)\b"
)
"""In a key: it is no name but a sentence."""
IS_ZH = re.compile(
    r"^(?:我们?的?|本项目的?|这个项目的?|项目的?|该)?(?P<key>[^\W\d_]{1,16}?)"
    r"(?:现在)?(?:改?[是为]|改成|[：:])(?P<value>[^？?]{1,80})$"
)
NAME = re.compile(r"(?i)^(?:call me|i am called|i'm called|my name is|my name's)\s+(?P<value>.+)$")
NAME_ZH = re.compile(r"^(?:我叫|我的名字[是叫]|我名叫|叫我)(?P<value>[^，,。！!；;]{1,20})")
CHANGE = re.compile(
    r"(?i)\b(?:change|update|set|make|correct|move|raise|lower|increase|reduce|switch|push|bring)\b.*\bto\b"
    r"|更正|改成|改为|改到|改在|调整"
)

# -- what somebody is and does -------------------------------------------------------------------------------

AM = re.compile(
    r"(?i)^(?:i am|i'm|we are|we're)\s+(?:(?:also|actually|still|both|all)\s+)*"
    r"(?P<value>(?:an? (?!bit\b|little\b|lot\b|big fan\b|huge fan\b|few\b|tad\b|couple\b)"
    r"|the (?:owner|head|manager|founder|author|mother|father|only)\b|from\b|based in\b|born\b|\d+ years old"
    r"|vegetarian|vegan|diabetic|allergic|lactose|gluten|coeliac|celiac|married|single\b|divorced|retired"
    r"|pregnant|left-handed|right-handed|colou?r-?blind|deaf|blind\b|responsible for|fluent|a native).*)$"
)
DO = re.compile(
    r"(?i)^(?:i|we)\s+(?:(?:really|also|always|usually|only|strongly|mostly)\s+)*"
    r"(?P<verb>prefer|like|love|enjoy|hate|dislike|avoid|eat|drink|speak|live|work|study|own|drive|use|have"
    r"|weigh|earn|run)\s+"
    r"(?!(?:to\b(?! (?:be called|travel|cook|read|write|work|live)\b)|the\b|how\b|that\b|this\b|these\b"
    r"|those\b|it\b|your\b|when\b|what\b|all\b|the way|been\b|some\b|any\b|no idea|an idea|a question"
    r"|a (?:problem|few|couple|lot|bit|feeling|hard time|great time|good time|plan|meeting)\b|trouble"
    r"|questions?\b|heard|seen|had|got|never|not\b|always|already|just|also|only|out of|into\b|on it\b))"
    r"(?P<value>.+)$"
)
ABOUT_ME = frozenset("prefer like love enjoy hate dislike avoid eat drink speak live work".split())
AM_ZH = re.compile(
    r"^(?:我|我们)是(?P<value>(?:一[个名位]|素食|来自|[^，,。！!；;]{0,8}(?:人|师|员|生|者|家|工))[^，,。！!；;]{0,30})"
)
DO_ZH = re.compile(
    r"^(?:我|我们)(?:平时|一般|通常|更|比较|很|特别|最|一直|总是)*"
    r"(?P<verb>喜欢|爱|讨厌|偏好|偏爱|习惯|住在|住|吃|喝|会说|用)(?P<value>[^？?]{1,60})$"
)

# -- what binds ----------------------------------------------------------------------------------------------

MINE = re.compile(r"(?i)\b(?:i|my|me|mine|myself|we|our|us|ours|i'm|i've|i'd|we're|we've)\b|我")
STANDING = re.compile(
    r"(?i)\b(?:always|never|from now on|in (?:the )?future|every time|whenever|by default|in general)\b"
    r"|总是|永远|从不|以后|今后|每次|默认|一律|从现在起|往后"
)
LANGUAGE = re.compile(
    r"(?i)\bin (?:English|Chinese|German|French|Spanish|Japanese|Italian|Portuguese|Russian|Korean|Dutch)\b"
    r"|用(?:中文|英文|英语|日语|法语|德语)"
)
_ORDER = re.compile(
    r"(?i)^(?:(?:do not|don't) (?!hold back|worry|forget|hesitate|mind|get me|know|you\b|think)"
    r"|(?:always|never|only|avoid|make sure|be sure|ensure|under no circumstances|from now on"
    r"|in (?:the )?future|whenever|every time|by default|use only|exclude|skip)\b|no(?: [\w'-]+){1,5}$)"
    r"|^(?:请|请你)?(?:不要|别|不许|不准|禁止|切勿|务必|必须|只能|只要|只用|只|总是|永远|以后|今后|每次|从现在起|避免)"
)
_SPEAK = re.compile(r"(?i)^(?:answer|reply|respond|write|speak|talk)\b|^(?:请)?用[中英日法德]")
_OWN = re.compile(
    r"(?i)^(?:i|we)\s+(?:(?:really|absolutely|simply|just|personally)\s+)*"
    r"(?:(?:always|only)\s+(?=(?:eat|drink|use|buy|fly|travel|work|read|accept|take|book|pay|stay|wear|drive"
    r"|speak|write|order|invest|cook)\b)|(?:never|don't|do not|can't|cannot|won't)\s+)"
    r"(?!(?:know|think|want|mind|remember|understand|see|believe|imagine|wait|get|feel|need|seem|help|say"
    r"|mean|tell|find|have|hear|recall|agree|figure|realize|realise|care|worry|wish|thought|expect|even"
    r"|really|quite|forget|decide|be\b|make|wonder)\b)\w"
)
_HEALTH = re.compile(r"(?i)\b(?:allerg(?:y|ic|ies)|intoleran(?:t|ce)|diabetic)\b|过敏|吃素|素食|清真|糖尿病")
_RULE = re.compile(
    r"(?i)^(?:the|our|my|all|every|each|any|no|answers|reports)\b[^,;]{0,80}\b(?:must(?: not)?|may not|shall"
    r"|has to|have to|is not allowed|are not allowed|is forbidden|are forbidden|cannot)\b"
)
_OWN_ZH = re.compile(r"我们?(?:不吃|不喝|不能|不用|不坐|不去|从不|绝不|只吃|只喝|只用|只坐|必须)")


def binds(bare: str) -> bool:
    """Whether a sentence gives the assistant an order to keep to, or says what its speaker never does."""
    if _ORDER.search(bare) or _OWN.search(bare) or _RULE.search(bare) or _OWN_ZH.search(bare):
        return True
    if _HEALTH.search(bare) and MINE.search(bare):
        return True
    return bool(_SPEAK.search(bare) and LANGUAGE.search(bare))
