"""Words that turn a statement into its opposite: a list by hand, stems on both sides."""

from __future__ import annotations

from functools import lru_cache

from orchestra.text.terms import stem

# Words of one side, a bar, words of the other, a semicolon; any word of one side opposes any of the other.
_SIDES = """
increase rise rose risen grow grew growth gain climb surge jump expand expansion boost raise raised up
upward higher accelerate strengthen soar advance uptick double | decrease fall fell fallen decline drop
reduce reduction lose loss shrink contract contraction cut lower down downward slow weaken plunge plummet
worsen diminish dwindle slump halve ;
more greater above over exceed exceeded outperform surpass most maximum highest largest biggest top | less
fewer below under underperform least minimum lowest smallest bottom ;
strong strength robust solid healthy | weak weakness soft sluggish poor fragile ;
improve improved improvement better best enhance enhanced | worsen worse worst deteriorate deterioration
hinder impair degrade ;
positive favorable favourable optimistic confident hopeful upbeat promising | negative unfavorable
unfavourable pessimistic doubtful hopeless unsure uncertain ;
good great excellent wonderful amazing fantastic nice | bad terrible awful horrible dreadful mediocre ;
accept accepted agree agreed approve approved allow allowed permit permitted support supported endorse
welcome confirm confirmed | reject rejected refuse refused decline declined disagree disagreed deny denied
oppose opposed forbid forbidden prohibit prohibited ban banned criticize criticise ;
win won victory succeed succeeded success successful successfully pass achieve achieved | lose lost defeat
fail failed failure unsuccessful unsuccessfully miss missed ;
start started begin began begun launch open opened introduce enter commence | end ended finish finished
stop stopped close closed cease conclude exit cancel cancelled ;
first early earlier before previous prior former past | last late later after subsequent following latter
future ;
always often frequently usually regularly constantly | never rarely seldom occasionally sometimes
infrequently ;
all every entire entirely fully completely wholly | some partially partly somewhat none few ;
many numerous several multiple lots | few single couple one only ;
include included add added join joined | exclude excluded remove removed leave left omit omitted ;
buy bought purchase purchased acquire acquired | sell sold divest divested ;
love loved like liked enjoy enjoyed prefer | hate hated dislike disliked loathe detest ;
easy easily simple simpler simplify | difficult hard hardly complex complicated challenging complicate ;
happy glad pleased delighted excited cheerful | sad unhappy upset disappointed miserable angry bored ;
safe safely secure safety | dangerous unsafe risky insecure danger ;
alive live survive survived | dead die died kill killed death ;
true real accurate correct right valid | false fake inaccurate incorrect wrong invalid untrue ;
able can possible capable | unable cannot impossible incapable ;
important significant essential crucial key critical major | unimportant insignificant trivial irrelevant
unnecessary negligible minor ;
same similar identical alike | different dissimilar distinct unlike opposite ;
new recent modern | old ancient outdated ;
public publicly | private privately secret secretly ;
internal domestic inside indoor | external foreign outside outdoor ;
large big huge vast substantial | small tiny little slight slim ;
long longer lengthy | short shorter brief briefly ;
fast quick quickly rapid rapidly | slow slowly gradual gradually ;
high | low ;
male man boy father husband brother son uncle he him his | female woman girl mother wife sister daughter
aunt she her hers ;
north northern | south southern ;
east eastern | west western ;
active actively | inactive passive passively ;
common popular famous widely | rare unusual unpopular unknown ;
cheap affordable inexpensive | expensive costly ;
rich wealthy | poor ;
clean | dirty ;
hot warm | cold cool ;
full | empty ;
likely probable probably certain certainly definitely | unlikely improbable impossible ;
remember remembered recall | forget forgot forgotten ;
help helped assist protect | harm hurt hinder hindered prevent damage ;
arrive arrived come came | leave left depart departed go ;
profit profitable | loss unprofitable ;
offense attack | defense defence ;
learn teach | unlearn ;
ask asked question | answer answered reply replied ;
give gave given provide provided send sent lend | take took taken receive received withhold borrow ;
supervised | unsupervised ;
linear | nonlinear ;
simple | complex ;
outperform | underperform ;
benefit advantage pro strength | drawback disadvantage con ;
friend ally | enemy foe ;
peace peaceful | war violent ;
guilty | innocent ;
legal lawful | illegal unlawful ;
voluntary | mandatory compulsory required ;
required necessary needed mandatory | optional unnecessary unneeded ;
interested eager keen willing enthusiastic | uninterested reluctant hesitant unwilling ;
ready prepared | unprepared ;
free | busy ;
agree | argue ;
together | apart separately alone ;
temporary temporarily | permanent permanently ;
unchanged stable remain maintain | change changed vary unstable ;
"""


@lru_cache(maxsize=1)
def opposites() -> dict[str, frozenset[str]]:
    """The stems that oppose a stem."""
    found: dict[str, set[str]] = {}
    for group in _SIDES.split(";")[:-1]:
        one, other = ({stem(word) for word in side.split()} for side in group.split("|"))
        for left in one:
            found.setdefault(left, set()).update(other - one)
        for right in other:
            found.setdefault(right, set()).update(one - other)
    return {word: frozenset(words) for word, words in found.items()}
