package glyphs

import (
	"fmt"

	"codeberg.org/go-fonts/dejavu/dejavumathtexgyre"
	"codeberg.org/go-fonts/dejavu/dejavusans"
	"codeberg.org/go-fonts/dejavu/dejavusansbold"
	"codeberg.org/go-fonts/dejavu/dejavusansextralight"
	"codeberg.org/go-fonts/dejavu/dejavusansmono"
	"codeberg.org/go-fonts/dejavu/dejavusansmonobold"
	"codeberg.org/go-fonts/dejavu/dejavuserif"
	"codeberg.org/go-fonts/dejavu/dejavuserifbold"
	"codeberg.org/go-fonts/dejavu/dejavuserifitalic"
	"codeberg.org/go-fonts/latin-modern/lmmono10regular"
	"codeberg.org/go-fonts/latin-modern/lmroman10bold"
	"codeberg.org/go-fonts/latin-modern/lmroman10italic"
	"codeberg.org/go-fonts/latin-modern/lmroman10regular"
	"codeberg.org/go-fonts/latin-modern/lmsans10regular"
	"codeberg.org/go-fonts/liberation/liberationmonoregular"
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansitalic"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-fonts/liberation/liberationserifbold"
	"codeberg.org/go-fonts/liberation/liberationserifitalic"
	"codeberg.org/go-fonts/liberation/liberationserifregular"
	"codeberg.org/go-fonts/stix/stix2mathregular"
	"codeberg.org/go-fonts/stix/stix2textbold"
	"codeberg.org/go-fonts/stix/stix2textitalic"
	"codeberg.org/go-fonts/stix/stix2textregular"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
)

// face is one font file. Its family groups faces of one design.
type face struct {
	family, name string
	data         []byte
}

// listFaces lists the fonts in a fixed order. A random draw is an index into the list, so adding a font changes the
// dataset.
func listFaces() []face {
	return []face{
		{"go", "regular", goregular.TTF},
		{"go", "bold", gobold.TTF},
		{"go", "italic", goitalic.TTF},
		{"go", "mono", gomono.TTF},
		{"liberation", "sans", liberationsansregular.TTF},
		{"liberation", "sans bold", liberationsansbold.TTF},
		{"liberation", "sans italic", liberationsansitalic.TTF},
		{"liberation", "serif", liberationserifregular.TTF},
		{"liberation", "serif bold", liberationserifbold.TTF},
		{"liberation", "serif italic", liberationserifitalic.TTF},
		{"liberation", "mono", liberationmonoregular.TTF},
		{"dejavu", "sans", dejavusans.TTF},
		{"dejavu", "sans bold", dejavusansbold.TTF},
		{"dejavu", "sans extra light", dejavusansextralight.TTF},
		{"dejavu", "mono", dejavusansmono.TTF},
		{"dejavu", "mono bold", dejavusansmonobold.TTF},
		{"dejavu", "serif", dejavuserif.TTF},
		{"dejavu", "serif bold", dejavuserifbold.TTF},
		{"dejavu", "serif italic", dejavuserifitalic.TTF},
		{"dejavu", "math tex gyre", dejavumathtexgyre.TTF},
		{"latin modern", "roman", lmroman10regular.TTF},
		{"latin modern", "roman bold", lmroman10bold.TTF},
		{"latin modern", "roman italic", lmroman10italic.TTF},
		{"latin modern", "sans", lmsans10regular.TTF},
		{"latin modern", "mono", lmmono10regular.TTF},
		{"stix", "text", stix2textregular.TTF},
		{"stix", "text bold", stix2textbold.TTF},
		{"stix", "text italic", stix2textitalic.TTF},
		{"stix", "math", stix2mathregular.TTF},
	}
}

// parseFaces parses the fonts.
func parseFaces() ([]*sfnt.Font, error) {
	list := listFaces()
	fonts := make([]*sfnt.Font, len(list))
	for i, f := range list {
		font, err := sfnt.Parse(f.data)
		if err != nil {
			return nil, fmt.Errorf("glyphs: font %s %s: %w", f.family, f.name, err)
		}
		fonts[i] = font
	}
	return fonts, nil
}
