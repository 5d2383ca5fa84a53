package config_test

import (
	"strings"
	"testing"

	"winnow/run/config"
)

// parsed parses and validates a configuration.
func parsed(text string) (config.Run, error) {
	c, err := config.Parse("run.yaml", []byte(text), nil)
	if err == nil {
		err = c.Validate()
	}
	return c, err
}

func TestPaperVariant(t *testing.T) {
	const none = "paper_variant: true\nfilter: {scorer: none}\nlosses: [{name: triplet}]\n"
	for _, text := range []string{
		strings.Replace(none, "triplet", "scl_rhe", 1),
		strings.Replace(none, "{scorer: none}", "{scorer: vmf}", 1) + "bank: {size: 100}\n",
		strings.Replace(none, "triplet", "wms", 1) + "selfpaced: {every: 1 epoch}\n",
	} {
		c, err := parsed(text)
		if err != nil || !c.PaperVariant || !c.Filter.Printed || c.SelfPaced.Printed != c.SelfPaced.On() ||
			config.Flatten(c)["paper_variant"] != "true" {
			t.Errorf("%s: found %v, %v", text, c.PaperVariant, err)
		}
	}
	if config.Default().PaperVariant {
		t.Error("paper_variant is true by default")
	}
}
