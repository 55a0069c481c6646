"""Pictures of graphs: what is drawn, where it goes, and the languages that it is written in. Pure strings."""
