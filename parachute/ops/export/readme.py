"""The page in the archive that says what is where."""

TEXT = """\
Everything that a Parachute Computer knew about your days, people, projects and conversations, in plain files.
You need no program of ours to read it: the files are Markdown (.md), JSON and recordings or pictures as they were made.

journal/         Your journal: a Markdown file for each day in journals/, what agents wrote about a day in reflections/,
                 recordings and pictures in assets/.
brain/           People, projects and topics: a Markdown file for each in entities/, their kinds in types.yaml,
                 and which journal entries mention them in mentions/.
conversations/   What was said in conversations. Each is there twice: ID.json, which can be imported again, and a page
                 that begins with its day and its title. Calls of tools and files that were sent along are not in it.
contexts/        Files that agents obey: AGENTS.md, CLAUDE.md and the like of folders in the vault, agents, prompts,
                 and parachute/memory.md.
suggestions/     Changes that agents proposed, and what became of each.
parachute-brain.json  What this archive is, for programs that import it.

`parachute import brain FILE.zip` brings it into another computer. Nothing there is written over; what differs is named.
contexts/ comes only with --contexts, since agents obey what stands there.
"""
