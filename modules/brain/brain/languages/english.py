"""English."""

from .language import Language, parts, words

_COMMON = words("""
a about actually after again ago all almost already also although always am an and another any anyone are around as
at back bad be because been before best better both but by call can could day did dinner do does don't done down
each evening ever every everybody everyone everything few finally first for from get good got great had happy has
have he hello her here hers hey hi him his home how i i'd i'll i'm i've if in instead into is it it's its just last
late less let let's like long look lunch made make many may maybe me meanwhile more morning most much must my never
new next nice night no nobody not nothing now of off often ok okay old on once one only or other our out over
please pm quite really right she should since so some someone something sometimes still stop sure than thank thanks
that that's the their them then there they thing this those through to today tomorrow tonight too two up us wait
want was we well went were what when where which who why will with without would yes yesterday yet you you're your
""")
_THINGS = words("""
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november
december christmas easter halloween thanksgiving hanukkah ramadan diwali eve valentine's new year years spring summer autumn winter
english german french spanish italian portuguese dutch greek latin chinese japanese korean arabic russian turkish polish american
british european indian mexican thai swedish irish african asian god lord jesus mom mum mommy mummy dad daddy papa mama
grandma grandpa granny gran nana auntie uncle aunt mr mrs ms dr black day dm ai tv ok pm am fyi asap eta faq diy usb wifi pdf
ceo cto cfo hr kpi kpis api sql html css usa us uk eu un nasa gps atm rsvp todo wip tbd covid zoom internet web earth
sir madam times appendix chapter netflix
""")
ENGLISH = Language(
    "en",
    common=_COMMON,
    things=_THINGS,
    titles=words(
        "mr mrs ms miss dr prof professor uncle aunt auntie cousin grandma grandpa sir coach judge captain rabbi sister brother father"
    ),
    kinds={
        "project": "project",
        **dict.fromkeys(
            ("lake", "mount", "river", "café", "cafe", "restaurant", "hotel", "street", "team", "club", "band"), "topic"
        ),
    },
    with_people=words(
        "with met called asked told saw thanks thank from by dear visit visiting phoned texted emailed invited hugged missed"
    ),
    doing=words("""
    said says told tells asked asks called calls wrote writes texted texts emailed emails brought brings laughed laughs smiled agreed agrees
    suggested suggests thinks thought wants wanted offered offers sent gave visited visits moved lives believes knows knew loves loved hates
    helped met joined promised apologized explained invited cooked insisted mentioned mentions showed picked drove cried kissed hugged
    married recommended replied answered taught plays played sang lent borrowed quit
    """),
    deeds=frozenset(),
    news=parts("""
    told suggest propos decid agree promis announc discuss explain recommend mention offer moved moves moving
    quit joined joins hired fired promoted retire graduat started starts launch shipp releas finish cancel
    postpon deadline sold bought married engaged wedding pregnant born birthday divorc hospital surgery diagnos
    died funeral works studies plans wants learned prefers allerg kicked
    """),
    titled=words(
        "read reading watched watching finished playing played heard hearing listening listened seen rereading binge"
    ),
    to_places=words("in to near at from visiting"),
)
