package losses

import (
	"testing"
)

// Env.Printed changes exactly the losses whose catalog entry describes a printed variant.
func TestPrinted(t *testing.T) {
	for _, e := range Catalog {
		everyday := catalogSubject(t, e, nil)
		env := testEnv(conformDim, conformClasses, 3)
		env.Printed = true
		differs := false
		for _, in := range everyday.inputs(1, 60) {
			l, err := New(e.Name, nil, env)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := public(l, in)
			want, _ := public(everyday.build(), in)
			differs = differs || got != want
		}
		if differs != (e.Printed != "") {
			t.Errorf("%s: Env.Printed changes the loss: %v, but the entry's Printed is %q", e.Name, differs, e.Printed)
		}
	}
}

// For scl_rhe, Env.Printed makes both changes that the golden cases request separately.
func TestPrintedSCLRHE(t *testing.T) {
	in := conformInput(1, 60)
	env := testEnv(conformDim, conformClasses, 3)
	want, _ := public(mustNew(t, "scl_rhe", map[string]any{"sign": "printed", "scale": "inv_k"}, env), in)
	env.Printed = true
	if got, _ := public(mustNew(t, "scl_rhe", nil, env), in); got != want {
		t.Errorf("found %v, expected %v", got, want)
	}
}
