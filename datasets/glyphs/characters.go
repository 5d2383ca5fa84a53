package glyphs

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

// Pretrain is the split of the characters that train glyphnet. The dataset has no images of these characters.
const Pretrain = "pretrain"

// Character is one class: a code point with its split and Unicode name.
type Character struct {
	Char  rune
	Split string // datasets.Train, Validation or Test, or Pretrain
	Name  string // cyrillic_capital_letter_zhe
}

// nameClassFolder returns the name of the character's class, which is also its folder:
// U+0416_cyrillic_capital_letter_zhe.
func (c Character) nameClassFolder() string { return fmt.Sprintf("U+%04X_%s", c.Char, c.Name) }

// table was chosen by measurement. No two characters look alike in any two fonts, all forms of a letter are in the same
// split, and each character occurs in at least 12 fonts of 3 families (Pretrain: 4 fonts).
//
//go:embed characters.txt
var table string

// Characters lists the characters of a split in the order of their code points.
func Characters(split string) []Character {
	var list []Character
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if fields[1] != split {
			continue
		}
		code, err := strconv.ParseInt(strings.TrimPrefix(fields[0], "U+"), 16, 32)
		if err != nil {
			panic("glyphs: characters.txt: " + err.Error()) // the file is embedded, so this is a bug
		}
		list = append(list, Character{Char: rune(code), Split: split, Name: fields[2]})
	}
	return list
}
