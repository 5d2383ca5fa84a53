// Command outlines reads the characters of ../../datasets/glyphs/characters.txt from 29 open fonts and writes the curves of
// each to outlines.flate, from which winnow draws. A random draw is an index into the list of fonts, so another font
// changes the dataset.
//
//	go run ./outlines > ../datasets/glyphs/outlines.flate
package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"log"
	"os"

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
	"golang.org/x/image/math/fixed"

	"winnow/datasets"
	"winnow/datasets/glyphs"
)

var faces = [][]byte{goregular.TTF, gobold.TTF, goitalic.TTF, gomono.TTF, liberationsansregular.TTF, liberationsansbold.TTF, liberationsansitalic.TTF, liberationserifregular.TTF, liberationserifbold.TTF, liberationserifitalic.TTF, liberationmonoregular.TTF, dejavusans.TTF, dejavusansbold.TTF, dejavusansextralight.TTF, dejavusansmono.TTF, dejavusansmonobold.TTF, dejavuserif.TTF, dejavuserifbold.TTF, dejavuserifitalic.TTF, dejavumathtexgyre.TTF, lmroman10regular.TTF, lmroman10bold.TTF, lmroman10italic.TTF, lmsans10regular.TTF, lmmono10regular.TTF, stix2textregular.TTF, stix2textbold.TTF, stix2textitalic.TTF, stix2mathregular.TTF}

func main() {
	fonts := make([]*sfnt.Font, len(faces))
	for i, data := range faces {
		font, err := sfnt.Parse(data)
		if err != nil {
			log.Fatal(err)
		}
		fonts[i] = font
	}
	var all []byte
	for _, split := range []string{datasets.Train, datasets.Validation, datasets.Test, glyphs.Pretrain} {
		for _, c := range glyphs.Characters(split) {
			all = appendCharacter(all, fonts, c.Char)
		}
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err == nil {
		_, err = w.Write(all)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		_, err = os.Stdout.Write(out.Bytes())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// appendCharacter appends a character: its code, the number of fonts that have it and, for each, the number of segments
// and the segments: the operation, and its points as differences to the point before, in half font units.
func appendCharacter(all []byte, fonts []*sfnt.Font, c rune) []byte {
	var buf sfnt.Buffer
	var faces [][]byte
	for _, f := range fonts {
		index, err := f.GlyphIndex(&buf, c)
		if err != nil {
			log.Fatal(err)
		}
		if index == 0 { // .notdef: the box of a missing character
			continue
		}
		// Two units of 26.6 per font unit keep the halves of quadratic mid-points.
		segments, err := f.LoadGlyph(&buf, index, fixed.Int26_6(2*f.UnitsPerEm()), &sfnt.LoadGlyphOptions{})
		if err != nil {
			log.Fatal(err)
		}
		b := binary.AppendUvarint(nil, uint64(len(segments)))
		var last fixed.Point26_6
		for _, s := range segments {
			b = append(b, byte(s.Op))
			for _, p := range s.Args[:max(1, int(s.Op))] { // MoveTo, LineTo, QuadTo, CubeTo
				b = binary.AppendVarint(binary.AppendVarint(b, int64(p.X-last.X)), int64(p.Y-last.Y))
				last = p
			}
		}
		faces = append(faces, b)
	}
	all = binary.AppendUvarint(binary.AppendUvarint(all, uint64(c)), uint64(len(faces)))
	for _, b := range faces {
		all = append(all, b...)
	}
	return all
}
