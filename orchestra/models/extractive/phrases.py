"""Where the subject of an English question ends: a small grammar without a tagger."""

from __future__ import annotations

import re

from msgspec import Struct

from orchestra.models.extractive.words import AUXILIARIES

_VERBS = frozenset(
    """accept achieve act adapt add admit adopt affect aim allow alter annotate announce appear apply
    approve argue arise arrive ask assign assume attach attack attend attract avoid bake balance bear
    beat become begin behave belong bend bind bite block blow boil bond borrow bounce bow break breathe
    bring build burn burst bury buy calculate call cancel carry catch cause change check choose claim
    classify clean climb clone cluster coat collapse collect combine come communicate compare compete
    compile compose compress compute concentrate conclude conduct confirm conflict confuse connect
    construct consult consume contact contain continue contribute control convert convey cook cool cope
    copy correct cost count cover crash create cross cultivate cure customise customize cut damage deal
    debug decay decide declare decline decode decrease dedicate deduce defend defer define delegate
    deliver demand deny depend deploy deprecate derive describe deserve destroy detect deter determine
    develop die differ digest diminish direct disable disappear discourage discover display dissolve
    distinguish distribute divide do dominate double drag drain drift drink drive drop dry dump earn eat
    elect eliminate embed emerge emit employ enable encode encounter encourage end endure enforce engage
    enhance enjoy enlarge ensure enter erupt estimate evaluate evolve examine exceed exchange exclude
    execute exercise exhibit exist expand expect expire explain explode exploit export expose express
    extend facilitate fade fail fall favor favour feature feed feel ferment fetch fight file filter
    finance find finish fit fix flag flatten float flood flow fly focus fold follow forbid force form
    found freeze fuel fulfil fulfill function fund gain gather generate get give go govern grade grant
    grow guarantee guard guide halt handle happen harm hatch have heat help hinder hold host hunt
    identify ignore illustrate imagine impact implement imply import impose improve include incorporate
    increase index indicate infect influence inform inherit inhibit initialise initialize inject insert
    inspect inspire install intend interact interfere interpret interrupt introduce invade invent invest
    invite involve isolate issue iterate join judge justify keep kill know label lack land last launch
    lay lead learn leave lend lie lift limit link live load lock log look lose lower maintain make
    manage map mark match mature mean measure melt mention merge migrate mine minimise minimize mitigate
    mix model modify monitor motivate mount move multiply mutate name narrow need nest notice notify
    observe obtain occur offer omit open operate oppose optimise optimize order organise organize
    override oversee own oxidise oxidize pack parse part pass pay penetrate perceive perform permit
    persist persuade pick pile plan plant play please point pollute pool pose position possess postpone
    pour preserve press presume prevent process produce profit progress prohibit promise promote
    propagate propose protect prove provide publish pull push put query quit quote raise rank rate reach
    react read realise realize recall receive recognise recognize recommend reconcile record recover
    recruit redirect reduce refer refine reflect refuse regard register regulate reinforce reject relate
    release rely remain remind remove render renew repair repeat replace reply report represent
    reproduce require rescue research reserve reside resist resolve respect respond rest restore
    restrict result resume retain retire retrieve return reuse reveal reverse review revise reward rise
    risk roll rotate round rule run sacrifice sample satisfy save say scale schedule search secure see
    seek seem select sell send sense separate serve set shape share shift ship show shrink sign signal
    simplify sink sit skip sleep smell smoke solve sort sound spawn speak specialise specialize specify
    speed spell spend spin split spoil spread stabilise stabilize stack stand start state stay steal
    stimulate stop store strengthen stress stretch strike strip structure struggle study submit
    subscribe substitute succeed suffer suggest summarise summarize supply support suppress surround
    survive suspect sustain swallow swap swim switch synchronise synchronize tackle take target taste
    tax teach tear tell tend test thank think threaten thrive throw tie time tolerate touch trace track
    trade train transfer translate transmit transport trap travel treat trigger turn undergo understand
    unify unite unpack update upgrade urge use utilise utilize validate value vanish vary verify view
    visit vote wait want warm warn wash waste weaken wear weigh welcome widen win wish withdraw
    withstand wonder work wrap write yield""".split()
)
_PARTICIPLES = frozenset(
    """be been begun born bought broken brought built caught chosen come cut dealt done drawn driven drunk eaten
    fallen fed felt forbidden forgotten found frozen given gone grown heard held hidden kept known laid led left
    lent lost made meant met overridden paid put read risen run said sent set shown sold spent split spoken spread
    stood stored stolen taken taught thought thrown told understood used won worn written withdrawn""".split()
)
_ADVERBS = frozenset("not only still also never always often so too no already usually better worse longer".split())
_ADJECTIVES = frozenset(
    """able allowed available bad better common cheap compatible dangerous different difficult easy essential
    expensive fast faster good hard harmful healthy high important impossible invalid large legal likely long low
    mandatory mutable immutable necessary optional popular possible private public rare ready safe similar slow
    slower small stable thread-safe true unsafe useful useless valid valuable visible worth""".split()
)
_DETERMINERS = frozenset("a an the this that these those its their his her each every any some all both".split())
_BREAKS = frozenset("so when before after if while because unless than that which who where whether to".split())
_PREPOSITIONS = frozenset("in on with for by from at under over into as without during between via against".split())


class Clause(Struct, frozen=True):
    """A question in parts: `lead` "how often", `auxiliary` "is", `subject`, `rest` from the verb on."""

    lead: str
    auxiliary: str
    subject: str
    rest: str


_SHAPE = re.compile(
    r"(?P<lead>(?:(?:in|for|to|from|of|at|by|with|on|under|since|until) )?"
    r"(?:how (?:often|long|much|many|far|fast|quickly|well|large|big|old|high|hot|expensive)\b|what|why|how|when|where|who|which|whose))"
    r"(?P<middle>(?: [^?]{1,120}?)??) (?P<auxiliary>is|are|was|were|do|does|did|can|could|should|must|may|might|will|"
    r"would|has|have|had) (?P<after>.+)",
    re.IGNORECASE | re.DOTALL,
)


def parse(question: str) -> Clause | None:
    """The parts of a question with an auxiliary before its subject; None where there is no such order.

    For "which X must Y do" the lead is "which X".
    """
    shape = _SHAPE.fullmatch(" ".join(question.split()).rstrip("?. "))
    if shape is None or len(shape["middle"].split()) > 9:
        return None
    subject, rest = split_subject(shape["after"], shape["auxiliary"].lower())
    return Clause(shape["lead"] + shape["middle"], shape["auxiliary"].lower(), subject, rest)


def split_subject(text: str, auxiliary: str) -> tuple[str, str]:
    """The noun phrase at the head of `text`, and what follows it; ("", text) where no end is found."""
    words = text.split()
    if words and words[0].lower() in _PREPOSITIONS:
        return "", text
    be = auxiliary in ("is", "are", "was", "were")
    perfect = auxiliary in ("has", "have", "had")
    for at in range(1, len(words)):
        word = words[at].lower().strip(",;:\"'()")
        before = words[at - 1].lower()
        if before in _DETERMINERS or before.endswith(("'s", "’s")):
            continue
        if word == "to" and not be and not perfect and at > 2:
            return _cut(words, at - 1)  # "the compiler meet to become": what stands before "to" is the verb
        if word in _BREAKS or (words[at - 1].endswith((",", ";")) and not _listing(words, at)):
            return _cut(words, at)
        joined = before in ("and", "or", "of")
        if be or perfect:
            ends = word in _PARTICIPLES or (word.endswith("ed") and "-" not in word) or word in _ADVERBS
            ends = ends or word.endswith("ly") or word in _ADJECTIVES or word in ("a", "an", "the")
        else:
            ends = (word in _VERBS or word in AUXILIARIES) and not joined
            later = words[at + 1].lower().strip(",;:") if at + 1 < len(words) else ""
            noun = at == 1 or (at == 2 and words[0].lower() in _DETERMINERS)
            ends = ends and (not noun or later not in _VERBS or word in AUXILIARIES)  # "the build achieve": a noun, then the verb
        if ends and not joined:
            return _cut(words, at)
        if at > 1 and be and (word == "called" or (word == "for" and at == len(words) - 1)):
            return _cut(words, at)
    return "", text


def short_subject(text: str) -> str:
    """`text` up to its first preposition but "of"; at most eight words."""
    kept: list[str] = []
    for word in text.split():
        if kept and (word.lower() in _PREPOSITIONS or word.lower() in _BREAKS) and len(kept) > 1:
            break
        kept.append(word)
    return " ".join(kept[:8]).strip(",;: ")


def _listing(words: list[str], at: int) -> bool:
    """Whether a comma stands within "alpha, beta and release candidate"."""
    return any(word.lower() in ("and", "or") for word in words[at : at + 5])


def _cut(words: list[str], at: int) -> tuple[str, str]:
    return " ".join(words[:at]).strip(",;: "), " ".join(words[at:])
