"""Words that begin sentences or join others, and so name nothing."""

_WORDS = """
a aber about after again all als also although am an and any april are as at auch auf august aus be because been
before bei being bin both but by can could da das dass dear december der did die do does down each ein eine einen er
es even every february few first for friday from further für gestern get got haben had has have he hello her here hers
heute hi hier him his how i i'd i'll i'm i've ich if im in into is ist it it's its ja january july june just last
later let let's like made make many march may maybe me mein mit monday more morgen most much must my nach need new
next nicht no noch nor not november now nur october oder of off ok okay on once one only or other our out over perhaps
please pm same saturday see september she should sie since sind so some still such sunday than thank thanks that
that's the their them then there these they they're this those though through thursday to today tomorrow tonight too
tuesday two und under uns until up us very von want war was we we'll we're wednesday well wenn went wer were what when
where which while who why wie will wir with would yes yesterday yet you your zu
"""

STOP_WORDS = frozenset(_WORDS.split())
