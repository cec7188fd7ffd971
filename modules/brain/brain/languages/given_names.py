"""Names of people that are no other words in English, German and Spanish, the usual ones; without accents."""

from .language import words

GIVEN_NAMES = words("""
aaron abigail adam adrian alba alejandra alejandro alex alexander alice alicia alvaro amelia amy ana andrea andreas
andres andrew angela anja anke anna anne annika antonio aurora barbara beatriz ben benjamin bernd birgit brian
camila carla carlos carmen carol caroline catherine charlotte chloe christian christina christoph clara claudia
cristina daniel daniela david diana diego dieter dirk elena elias elisabeth elizabeth ella emily emma eric erik eva
felix florian francisco franziska friedrich gabriel gabriela george greg greta gunter hannah hannes hans heike
heinz helen helena helga henry ian ines ingrid isabel isabella ivan jack jacob jakob james jan jana javier jennifer
jens jessica joachim johanna john jonas jorge jose joseph juan julia julian karin karl katharina katrin kevin klaus
lara laura lena leon leonie liam lisa lucas lucia luis lukas manuel marcus maria marie marina mario markus marta
martin mary mateo matthew max maximilian mehmet mia michael miguel miriam monika nadia natalia nicole nina nora
oliver olivia oscar pablo patricia paul paula pedro peter petra philipp rachel robert rocio ruth samuel sandra sara
sarah sebastian sergio simon sofia sophia sophie stefan stephanie susanne sven thomas tobias tomas ulrike uwe
valentina veronica vincent walter werner william wolfgang yusuf
""")
