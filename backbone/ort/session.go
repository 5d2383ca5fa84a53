package ort

import (
	"errors"
	"fmt"
	"slices"
	"time"

	ortgo "github.com/yalue/onnxruntime_go"
)

// SessionOptions holds the settings of one session. The zero value suits most models.
type SessionOptions struct {
	Threads int      // 0: the runtime's
	Outputs []string // the outputs that Run fetches, in this order; nil: all, in the model's order
	CPU     bool     // run on the CPU even if the runtime's device is a GPU

	// Folder is the folder of the model's data files, for models above protobuf's limit of 2 GiB; "": no data files.
	Folder string

	// Spin is how long worker threads stay awake after a run before they sleep; 0: they sleep at once. ONNX Runtime's
	// default, a second or more, takes CPU time from Go: on 2 cores a 64×2048×512 product followed by 5 ms of work on
	// both cores takes 6.6 ms with sleeping threads, 7–8 ms with 20–100 µs of spinning, and 11–55 ms with threads
	// always awake. Waking the threads costs small products most: 128³ takes 41 µs with sleeping threads and 22 µs
	// with 20 µs of spinning. From 64×2048×512 on, the difference is not measurable.
	Spin time.Duration

	memory int64 // limit on GPU memory instead of the runtime's; 0: the runtime's
}

// Session is one loaded model. Only one goroutine at a time may use it; different sessions may run in parallel.
type Session struct {
	run       *ortgo.DynamicAdvancedSession
	ins, outs []Info
	slots     []slot // those of the inputs, then those of the outputs
	values    []ortgo.Value
	inValues  []ortgo.Value // parts of values
	outValues []ortgo.Value
	firstCUDA bool // whether the next run is the first on a GPU
}

// NewSession loads a model onto the runtime's device. It does not retain the model's bytes.
func (r *Runtime) NewSession(model []byte, o SessionOptions) (*Session, error) {
	ins, outs, err := parseSignature(model)
	if err != nil {
		return nil, fmt.Errorf("ort: model: %w", err)
	}
	if o.Outputs != nil {
		if outs, err = chooseOutputs(outs, o.Outputs); err != nil {
			return nil, err
		}
	}
	opts, err := r.newSessionOptions(o)
	if err != nil {
		return nil, fmt.Errorf("ort: session: %w", err)
	}
	defer opts.Destroy()
	var run *ortgo.DynamicAdvancedSession
	create := func() {
		run, err = ortgo.NewDynamicAdvancedSessionWithONNXData(model, infoNames(ins), infoNames(outs), opts)
	}
	cuda := r.sessionDevice(o).CUDA
	if cuda {
		keepSignals(create)
	} else {
		create()
	}
	if err != nil {
		return nil, fmt.Errorf("ort: model: %w", err)
	}
	n := len(ins) + len(outs)
	s := &Session{
		run: run, ins: ins, outs: outs,
		slots: make([]slot, n), values: make([]ortgo.Value, n), firstCUDA: cuda,
	}
	s.inValues, s.outValues = s.values[:len(ins)], s.values[len(ins):]
	return s, nil
}

// chooseOutputs picks outputs by name.
func chooseOutputs(outs []Info, wanted []string) ([]Info, error) {
	chosen := make([]Info, len(wanted))
	for i, name := range wanted {
		at := slices.IndexFunc(outs, func(o Info) bool { return o.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("ort: model: found no output %q, expected one of %q", name, infoNames(outs))
		}
		chosen[i] = outs[at]
	}
	return chosen, nil
}

func infoNames(infos []Info) []string {
	list := make([]string, len(infos))
	for i := range infos {
		list[i] = infos[i].Name
	}
	return list
}

// Inputs describes the tensors that Run expects, in order.
func (s *Session) Inputs() []Info { return s.ins }

// Outputs describes the tensors that Run returns, in order.
func (s *Session) Outputs() []Info { return s.outs }

// Run computes out from in. An output with a slice is written into the slice, without a copy on the CPU; an output
// without a slice is allocated. Passing the slices and shapes of the previous run again has no cost. The session keeps
// the slices alive until they are replaced or the session is closed.
func (s *Session) Run(in, out []Tensor) error {
	if s.run == nil {
		return errors.New("ort: run: the session is closed")
	}
	if len(in) != len(s.ins) || len(out) != len(s.outs) {
		return fmt.Errorf("ort: run: found %d inputs and %d outputs, expected %d and %d",
			len(in), len(out), len(s.ins), len(s.outs))
	}
	for i := range in {
		if err := s.holdTensor(i, in[i], s.ins[i], "input"); err != nil {
			return err
		}
	}
	for i := range out {
		at := len(in) + i
		if out[i].Type() == 0 && !s.scalarOutput(&out[i], i) {
			s.slots[at].dropValue()
			s.values[at] = nil
			continue
		}
		if err := s.holdTensor(at, out[i], s.outs[i], "output"); err != nil {
			return err
		}
	}
	if err := s.runSession(); err != nil {
		return fmt.Errorf("ort: run: %w", inOneLine(err))
	}
	return s.collectOutputs(out)
}

// runSession runs the session on its values. The first run on a GPU loads more of NVIDIA's libraries, so it keeps the
// signal handlers.
func (s *Session) runSession() (err error) {
	if !s.firstCUDA {
		return s.run.Run(s.inValues, s.outValues)
	}
	s.firstCUDA = false
	keepSignals(func() { err = s.run.Run(s.inValues, s.outValues) })
	return err
}

// holdTensor checks a tensor's type and makes it the value at index at.
func (s *Session) holdTensor(at int, t Tensor, info Info, what string) error {
	if got := t.Type(); got != info.Type {
		return fmt.Errorf("ort: run: %s %q: found %v, expected %v", what, info.Name, got, info.Type)
	}
	if err := s.slots[at].holdValue(t); err != nil {
		return fmt.Errorf("ort: run: %s %q: %w", what, info.Name, err)
	}
	s.values[at] = s.slots[at].value
	return nil
}

// scalarOutput allocates an output that is known to be a scalar, because the wrapper cannot.
func (s *Session) scalarOutput(t *Tensor, i int) bool {
	if s.outs[i].Shape == nil || len(s.outs[i].Shape) > 0 {
		return false
	}
	switch s.outs[i].Type {
	case Float:
		*t = Float32s(make([]float32, 1))
	case Double:
		*t = Float64s(make([]float64, 1))
	case Int64:
		*t = Int64s(make([]int64, 1))
	default:
		return false
	}
	return true
}

// collectOutputs copies scalars and outputs allocated by the runtime into out.
func (s *Session) collectOutputs(out []Tensor) (err error) {
	for i := range out {
		at := len(s.ins) + i
		if s.slots[at].value != nil {
			s.slots[at].copyScalar(out[i])
			continue
		}
		v := s.values[at] // allocated by this run
		s.values[at] = nil
		t, takeErr := takeTensor(v)
		if takeErr != nil {
			err = errors.Join(err, fmt.Errorf("ort: run: output %q: %w", s.outs[i].Name, takeErr))
		}
		out[i] = t
		err = errors.Join(err, v.Destroy())
	}
	return err
}

// Close frees the model. It may be called twice.
func (s *Session) Close() error {
	if s.run == nil {
		return nil
	}
	for i := range s.slots {
		s.slots[i].dropValue()
	}
	clear(s.values)
	err := s.run.Destroy()
	s.run = nil
	return err
}
