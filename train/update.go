package train

import (
	"math"
	"runtime"
	"sync"
)

// realNumber is the type in which an update is computed: float32 in training, float64 in the comparison with torch.
type realNumber interface{ float32 | float64 }

// weightUpdate holds the coefficients of one step of one parameter, computed in float64 and rounded once. With the
// weight x, its gradient g and the step t = 1, 2, …:
//
//	g ← g + λ x                                  (L2; AdamW instead: x ← (1 - η λ) x)
//	sgd:      v ← μ v + (1 - δ) g  (t = 1: v ← g);  x ← x - η v, nesterov: x ← x - η (g + μ v)
//	adam(w):  m ← β₁ m + (1-β₁) g;  v ← β₂ v + (1-β₂) g²;  x ← x - η/(1-β₁ᵗ) · m / (√(v/(1-β₂ᵗ)) + ε)
//	          amsgrad: the root uses the largest v so far
//	rmsprop:  v ← α v + (1-α) g²;  r = g/(√v + ε), centred: √(v - m²), m ← α m + (1-α) g;
//	          x ← x - η r, with momentum: b ← μ b + r, x ← x - η b
//
// Source: METHODS 15.3 (torch.optim 1.13; golden topic optim).
type weightUpdate struct {
	cfg   SolverConfig
	lr    float64
	decay float64 // λ
	steps int     // t
	rule  rule

	decoupled bool // adamw: λ shrinks the weight, not the gradient
}

// rule is the kind of update.
type rule uint8

const (
	plainSGD rule = iota
	momentumSGD
	rmsprop
	adam
	amsgrad
)

func (c SolverConfig) updateRule() rule {
	switch {
	case c.Name == "sgd" && c.Momentum == 0:
		return plainSGD
	case c.Name == "sgd":
		return momentumSGD
	case c.Name == "rmsprop":
		return rmsprop
	case c.AMSGrad:
		return amsgrad
	}
	return adam
}

// prepareUpdate prepares step t (from 1) at rate lr.
func (c SolverConfig) prepareUpdate(lr float64, t int, noDecay bool) weightUpdate {
	u := weightUpdate{
		cfg:       c,
		lr:        lr,
		decay:     c.WeightDecay,
		steps:     t,
		rule:      c.updateRule(),
		decoupled: c.Name == "adamw",
	}
	if noDecay {
		u.decay = 0
	}
	return u
}

// applyUpdate moves x along g; buf is in the order of SolverConfig.buffers.
func applyUpdate[T realNumber](u weightUpdate, x, g []T, buf [][]T) {
	switch u.rule {
	case plainSGD:
		sgdPlain(u, x, g)
	case momentumSGD:
		sgdMomentum(u, x, g, buf[0])
	case rmsprop:
		rmspropStep(u, x, g, buf)
	case amsgrad:
		adamStep(u, x, g, buf[0], buf[1], buf[2])
	default:
		adamStep(u, x, g, buf[0], buf[1], buf[1])
	}
}

func sgdPlain[T realNumber](u weightUpdate, x, g []T) {
	lr, wd := T(u.lr), T(u.decay)
	g = g[:len(x)]
	for i, xi := range x {
		x[i] = xi - lr*(g[i]+wd*xi)
	}
}

func sgdMomentum[T realNumber](u weightUpdate, x, g, v []T) {
	lr, wd, mu, keep := T(u.lr), T(u.decay), T(u.cfg.Momentum), T(1-u.cfg.Dampening)
	old := mu
	if u.steps == 1 {
		old, keep = 0, 1 // torch starts the velocity with the whole gradient, whatever the dampening
	}
	ahead, now := T(0), T(1) // x ← x - η (ahead·g + now·v)
	if u.cfg.Nesterov {
		ahead, now = 1, mu
	}
	g, v = g[:len(x)], v[:len(x)]
	for i, xi := range x {
		gi := g[i] + wd*xi
		vi := old*v[i] + keep*gi
		v[i] = vi
		x[i] = xi - lr*(ahead*gi+now*vi)
	}
}

// adamNumbers returns the factors of adam and amsgrad.
func adamNumbers[T realNumber](u weightUpdate) (l2, shrink, b1, b2, step, scale, eps T) {
	c, t := u.cfg, float64(u.steps)
	l2, shrink = T(u.decay), 1
	if u.decoupled {
		l2, shrink = 0, T(1-u.lr*u.decay)
	}
	step = T(u.lr / (1 - math.Pow(c.Beta1, t)))
	scale = T(1 / math.Sqrt(1-math.Pow(c.Beta2, t)))
	return l2, shrink, T(c.Beta1), T(c.Beta2), step, scale, T(c.Eps)
}

// adamStep takes a step of adam or amsgrad. top holds the variances under the root: v itself for adam, the largest
// variances so far for amsgrad.
func adamStep[T realNumber](u weightUpdate, x, g, m, v, top []T) {
	l2, shrink, b1, b2, step, scale, eps := adamNumbers[T](u)
	r1, r2 := T(1-u.cfg.Beta1), T(1-u.cfg.Beta2)
	g, m, v, top = g[:len(x)], m[:len(x)], v[:len(x)], top[:len(x)]
	for i, xi := range x {
		gi := g[i] + l2*xi
		mi := b1*m[i] + r1*gi
		vi := b2*v[i] + r2*gi*gi
		m[i], v[i] = mi, vi
		top[i] = max(top[i], vi)
		x[i] = shrink*xi - step*mi/(scale*T(math.Sqrt(float64(top[i])))+eps)
	}
}

func rmspropStep[T realNumber](u weightUpdate, x, g []T, buf [][]T) {
	c := u.cfg
	lr, wd, a, r, mu, eps := T(u.lr), T(u.decay), T(c.Alpha), T(1-c.Alpha), T(c.Momentum), T(c.Eps)
	v, rest := buf[0], buf[1:]
	var mean, velocity []T
	if c.Centered {
		mean, rest = rest[0], rest[1:]
	}
	if c.Momentum > 0 {
		velocity = rest[0]
	}
	for i, xi := range x {
		gi := g[i] + wd*xi
		v[i] = a*v[i] + r*gi*gi
		under := v[i]
		if mean != nil {
			mean[i] = a*mean[i] + r*gi
			under = max(under-mean[i]*mean[i], 0) // rounding may yield a small negative variance
		}
		step := gi / (T(math.Sqrt(float64(under))) + eps)
		if velocity != nil {
			velocity[i] = mu*velocity[i] + step
			step = velocity[i]
		}
		x[i] = xi - lr*step
	}
}

// blocksPerCore is the smallest number of blocks for which starting a goroutine pays off.
const blocksPerCore = 64

// updateOnAllCores applies u on all cores. Every weight is updated independently, so the result does not depend
// on the number of cores.
func updateOnAllCores(u weightUpdate, fast bool, x, g []float32, buf [][]float32) {
	do := applyUpdate[float32]
	if fast {
		do = fastUpdate
	}
	onAllCores(len(x), func(lo, hi int) {
		part := make([][]float32, len(buf))
		for i := range buf {
			part[i] = buf[i][lo:hi]
		}
		do(u, x[lo:hi], g[lo:hi], part)
	})
}

// onAllCores divides n weights into parts of whole blocks, at most one part per core, and calls do for each part.
func onAllCores(n int, do func(lo, hi int)) {
	blocks := (n + blockWeights - 1) / blockWeights
	cores := min(runtime.GOMAXPROCS(0), blocks/blocksPerCore)
	if cores < 2 {
		do(0, n)
		return
	}
	var wait sync.WaitGroup
	for w := range cores {
		wait.Go(func() { do(w*blocks/cores*blockWeights, min((w+1)*blocks/cores*blockWeights, n)) })
	}
	wait.Wait()
}
