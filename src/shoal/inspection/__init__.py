"""What a table holds, column by column: facts, formats, words in names, dependence, and the roles they suggest."""
