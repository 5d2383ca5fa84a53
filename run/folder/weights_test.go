package folder

import (
	"strings"
	"testing"
)

func TestParseWeights(t *testing.T) {
	list, err := parseWeights(strings.NewReader("path,label,weight\n\"a,b\",x,0\nc,\"y\"\"\",0.25\n"))
	if err != nil || len(list) != 2 || list[0] != (Weight{"a,b", "x", 0}) || list[1] != (Weight{"c", `y"`, 0.25}) {
		t.Errorf("%v %v", list, err)
	}
	for text, want := range map[string]string{
		"":                              "found an empty file, expected the columns path, label, weight",
		"path,weight\n":                 "wrong number of fields",
		"path,label,score\n":            `column 3 is "score", expected "weight"`,
		"path,label,weight\na,b\n":      "wrong number of fields",
		"path,label,weight\na,b,1.5\n":  `entry 1: weight is "1.5", expected a number from 0 to 1`,
		"path,label,weight\na,b,NaN\n":  `weight is "NaN"`,
		"path,label,weight\na,\"b,1.\n": "extraneous or missing",
	} {
		if _, err := parseWeights(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected …%s…", text, err, want)
		}
	}
}

func FuzzWeights(f *testing.F) {
	f.Add("path,label,weight\na,b,0.5\n")
	f.Add("path,label,weight\n\"a\n,b\",c,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseWeights(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, s := range list {
			if !(s.Weight >= 0 && s.Weight <= 1) {
				t.Errorf("%+v was let through", s)
			}
		}
	})
}
