"""The values of a compile and the rules they carry: no file, clock, environment or network is touched here."""
