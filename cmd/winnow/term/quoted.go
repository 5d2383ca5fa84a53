package term

import "strings"

// Quoted joins words to a command for a shell.
func Quoted(words []string) string {
	list := make([]string, len(words))
	for i, word := range words {
		if list[i] = word; word == "" || strings.ContainsAny(word, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
			list[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(list, " ")
}
