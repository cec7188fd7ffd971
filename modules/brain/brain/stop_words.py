"""Words that begin sentences or join others, and so name nothing."""

STOP_WORDS = frozenset(
    "a about after again all also although am an and any are as at be because been before being both but by can could did do does "
    "down each even every few first for from further get got had has have he her here hers him his how i i'd i'll i'm i've if in "
    "into is it it's its just last later let let's like made make many maybe me more most much must my need new next no nor not now "
    "of off on once one only or other our out over perhaps please same see she should since so some still such than thank thanks "
    "that that's the their them then there these they they're this those though through to today tomorrow tonight too two under "
    "until up us very want was we we'll we're well went were what when where which while who why will with would yes yesterday "
    "yet you your monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december ok okay hi hello dear am pm "
    "aber als am auch auf aus bei bin da das dass der die ein eine einen er es für gestern haben heute hier ich im in ist ja mein "
    "mit morgen nach nicht noch nur oder sie sind so und uns von war was wenn wer wie wir zu".split()
)
