package train

import (
	"math"
	"slices"
	"testing"

	"winnow/internal/testing/reference"
)

// onlyParams fails if the case has a parameter that the check does not map to a setting.
func onlyParams(t *testing.T, c reference.Case, known ...string) {
	t.Helper()
	for name := range c.Params {
		if !slices.Contains(known, name) {
			t.Fatalf("parameter %q is not known: known are %v", name, known)
		}
	}
}

// goldenSolver returns the solver settings of a case of topic optim. Validation rejects settings of other solvers.
func goldenSolver(t *testing.T, c reference.Case) SolverConfig {
	t.Helper()
	known := []string{"lr", "weight_decay", "momentum", "dampening", "nesterov", "amsgrad", "centered", "alpha",
		"eps", "betas"}
	if c.Method == "sgd+cosine" {
		known = append(known, "T_max", "eta_min")
	}
	onlyParams(t, c, known...)
	name := c.Method
	if name == "sgd+cosine" {
		name = "sgd"
	}
	cfg := DefaultSolver(name)
	cfg.LR = GivenLR(c.Param("lr", cfg.LR.Value))
	cfg.WeightDecay = c.Param("weight_decay", cfg.WeightDecay)
	cfg.Momentum = c.Param("momentum", 0)
	cfg.Dampening = c.Param("dampening", 0)
	cfg.Nesterov, _ = c.Params["nesterov"].(bool)
	cfg.AMSGrad, _ = c.Params["amsgrad"].(bool)
	cfg.Centered, _ = c.Params["centered"].(bool)
	cfg.Alpha = c.Param("alpha", cfg.Alpha)
	cfg.Eps = c.Param("eps", cfg.Eps)
	if betas, ok := c.Params["betas"].([]any); ok {
		cfg.Beta1, cfg.Beta2 = betas[0].(float64), betas[1].(float64)
	}
	return cfg
}

// walk minimises ½ xᵀA x - bᵀx with a solver, starting from x0, and returns x after every step.
func walk[T realNumber](cfg SolverConfig, a [][]float64, b, x0 []float64, steps int, lr func(int) float64) [][]float64 {
	x, g := make([]T, len(x0)), make([]T, len(x0))
	for i, v := range x0 {
		x[i] = T(v)
	}
	buf := make([][]T, len(cfg.bufferNames()))
	for i := range buf {
		buf[i] = make([]T, len(x0))
	}
	var out [][]float64
	for step := range steps {
		for i := range g {
			var sum float64
			for j := range x {
				sum += a[i][j] * float64(x[j])
			}
			g[i] = T(sum - b[i])
		}
		applyUpdate(cfg.prepareUpdate(lr(step), step+1, false), x, g, buf)
		at := make([]float64, len(x))
		for i, v := range x {
			at[i] = float64(v)
		}
		out = append(out, at)
	}
	return out
}

// farthest returns the largest difference between got and want. A difference is relative if |want| exceeds 1.
func farthest(got, want [][]float64) float64 {
	var worst float64
	for i := range want {
		for j := range want[i] {
			d := math.Abs(got[i][j]-want[i][j]) / max(math.Abs(want[i][j]), 1e-3)
			if math.IsNaN(d) {
				return math.Inf(1)
			}
			worst = max(worst, d)
		}
	}
	return worst
}

func TestGolden(t *testing.T) {
	reference.Check(t, "optim", reference.Checks{
		"sgd": goldenTrajectory, "adam": goldenTrajectory, "adamw": goldenTrajectory, "rmsprop": goldenTrajectory,
		"sgd+cosine": goldenTrajectory,
		"cosine_lr":  goldenSchedule, "multistep_lr": goldenSchedule, "supcon_lr": goldenSchedule,
	})
}

func TestMain(m *testing.M) { reference.Main(m) }

func goldenTrajectory(t *testing.T, c reference.Case) {
	cfg := goldenSolver(t, c)
	if err := cfg.validateSolver(); err != nil {
		t.Fatal(err)
	}
	a, b, x0, want := c.Matrix(t, "A"), c.Floats(t, "b"), c.Floats(t, "x0"), c.Matrix(t, "trajectory")
	lr := func(int) float64 { return cfg.LR.Value }
	if c.Method == "sgd+cosine" {
		s, err := NewSchedule(ScheduleConfig{Name: "cosine", Min: c.Param("eta_min", 0)}, cfg.LR.Value,
			int(c.Param("T_max", 0)), 1)
		if err != nil {
			t.Fatal(err)
		}
		lr = s.At
	}
	if d := farthest(walk[float64](cfg, a, b, x0, len(want), lr), want); d > 1e-10 {
		t.Errorf("float64 differs by %.3g", d)
	}
	// Rounding to float32 acts like a slightly different start, from which paths can diverge, as RMSProp's do near a
	// zero gradient. The distance of a path from such a start therefore sets the tolerance for float32.
	beside := make([]float64, len(x0))
	for i, v := range x0 {
		beside[i] = v * (1 + 0x1p-22)
	}
	limit := max(1e-4, 100*farthest(walk[float64](cfg, a, b, beside, len(want), lr), want))
	if d := farthest(walk[float32](cfg, a, b, x0, len(want), lr), want); !(d <= limit) {
		t.Errorf("float32 differs by %.3g, expected at most %.3g", d, limit)
	}
	still := func(int) float64 { return 0 } // if a path hardly moves, a wrong rate hardly changes it
	moved := farthest(walk[float64](cfg, a, b, x0, len(want), still), want)
	off := func(step int) float64 { return lr(step) * (1 + 1e-6) }
	if d := farthest(walk[float64](cfg, a, b, x0, len(want), off), want); d < 1e-10 && moved > 1e-3 {
		t.Error("a relative error of 1e-6 in the rate goes unnoticed")
	}
}

func goldenSchedule(t *testing.T, c reference.Case) {
	want := c.Floats(t, "lr")
	cfg, total, epoch := ScheduleConfig{}, len(want), 1
	switch c.Method {
	case "cosine_lr":
		onlyParams(t, c, "lr", "T_max", "eta_min")
		cfg = ScheduleConfig{Name: "cosine", Min: c.Param("eta_min", 0)}
		total = int(c.Param("T_max", 0))
	case "multistep_lr":
		onlyParams(t, c, "lr", "milestones", "gamma")
		cfg = ScheduleConfig{Name: "multistep", Gamma: c.Param("gamma", 0.1)}
		for _, m := range c.Params["milestones"].([]any) {
			cfg.Milestones = append(cfg.Milestones, int(m.(float64)))
		}
	case "supcon_lr":
		onlyParams(t, c, "lr", "epochs", "lr_decay_rate", "warm_epochs", "warmup_from", "batches_per_epoch")
		epoch = int(c.Param("batches_per_epoch", 0))
		total = epoch * int(c.Param("epochs", 0))
		cfg = ScheduleConfig{Name: "supcon", Gamma: c.Param("lr_decay_rate", 0.1),
			Warmup:     epoch * int(c.Param("warm_epochs", 0)),
			WarmupFrom: max(c.Param("warmup_from", 0.01), math.SmallestNonzeroFloat64)} // 0 means lr/warmup here
	}
	s, err := NewSchedule(cfg, c.Param("lr", 0), total, epoch)
	if err != nil {
		t.Fatal(err)
	}
	for step, lr := range want {
		if got := s.At(step); math.Abs(got-lr) > 1e-10*math.Abs(lr)+1e-16 {
			t.Errorf("step %d: %.12g, expected %.12g", step, got, lr)
		}
	}
}
