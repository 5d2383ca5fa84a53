package config

import (
	"strings"
	"testing"
)

// parsed reads a configuration and checks it.
func parsed(text string) (Run, error) {
	c, err := Parse("run.yaml", []byte(text), nil)
	if err == nil {
		err = c.Validate()
	}
	return c, err
}

func TestPaperVariant(t *testing.T) {
	const none = "paper_variant: true\nfilter: {scorer: none}\nlosses: [{name: triplet}]\n"
	if _, err := parsed(none); err == nil || !strings.HasPrefix(err.Error(), "config: paper_variant: found true, and nothing of the run differs from its paper's print: expected one of the losses contrastive, ") {
		t.Errorf("found %v", err)
	}
	for _, text := range []string{
		strings.Replace(none, "triplet", "scl_rhe", 1),
		strings.Replace(none, "{scorer: none}", "{scorer: vmf}", 1) + "bank: {size: 100}\n",
		strings.Replace(none, "triplet", "wms", 1) + "selfpaced: {every: 1 epoch}\n",
	} {
		c, err := parsed(text)
		if err != nil || !c.PaperVariant || !c.Filter.Printed || c.SelfPaced.Printed != c.SelfPaced.On() || Flatten(c)["paper_variant"] != "true" {
			t.Errorf("%s: found %v, %v", text, c.PaperVariant, err)
		}
	}
	if Default().PaperVariant {
		t.Error("a run is built as printed unless it says otherwise")
	}
}

// A configuration that an earlier version wrote down is read.
func TestFormerSettings(t *testing.T) {
	const text = "losses: [{name: scl_rhe, settings: {sign: derived, scale: one, tau: 0.2}}, {name: adapted_triplet, settings: {printed: false}}]\n"
	c, err := parsed(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Losses[0].Settings["sign"]; ok || c.Losses[0].Settings["tau"] != 0.2 {
		t.Errorf("found %v", c.Losses[0].Settings)
	}
	_, err = parsed(strings.Replace(text, "derived", "printed", 1))
	if want := "config: losses.0.settings: losses: scl_rhe: sign: found printed, expected derived: set paper_variant to build what the paper prints"; err == nil || err.Error() != want {
		t.Errorf("found %v", err)
	}
}
