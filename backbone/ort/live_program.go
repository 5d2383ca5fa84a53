package ort

import (
	"fmt"

	ortgo "github.com/yalue/onnxruntime_go"

	"winnow/backbone/graph"
)

// program is a model of a live network. The network provides its tensors by name.
type program struct {
	run       *ortgo.DynamicAdvancedSession
	ins, outs []string
	in, out   []ortgo.Value // tensors of a run
	first     bool          // whether the next run is the first on a GPU
}

// newProgram loads a model. asWritten turns off graph optimisation. Worker threads sleep between runs.
func newProgram(rt *Runtime, m *graph.Model, o SessionOptions, asWritten bool) (*program, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	p := &program{first: rt.sessionDevice(o).CUDA}
	for _, v := range m.Graph.DataInputs() {
		p.ins = append(p.ins, v.Name)
	}
	for _, v := range m.Graph.Outputs {
		p.outs = append(p.outs, v.Name)
	}
	p.in, p.out = make([]ortgo.Value, len(p.ins)), make([]ortgo.Value, len(p.outs))
	opts, err := rt.newSessionOptions(o)
	if err != nil {
		return nil, fmt.Errorf("ort: live: %w", err)
	}
	defer opts.Destroy()
	// ONNX Runtime's memory pattern puts the tensors of the second run into one block, in addition to the arena filled
	// by the first run. That takes half as much memory again and is not faster (MobileNetV2 at batch 8: 1277 MB with
	// it, 798 MB without; ResNet-50 to its third stage: 2430 and 1663).
	if err := opts.SetMemPattern(false); err != nil {
		return nil, fmt.Errorf("ort: live: %w", err)
	}
	if err := opts.AddSessionConfigEntry("session.use_env_allocators", "1"); err != nil { // the shared arena
		return nil, fmt.Errorf("ort: live: %w", err)
	}
	if asWritten {
		if err := opts.SetGraphOptimizationLevel(ortgo.GraphOptimizationLevelDisableAll); err != nil {
			return nil, fmt.Errorf("ort: live: %w", err)
		}
	}
	bytes := m.Marshal()
	create := func() { p.run, err = ortgo.NewDynamicAdvancedSessionWithONNXData(bytes, p.ins, p.outs, opts) }
	if p.first {
		keepSignals(create)
	} else {
		create()
	}
	if err != nil {
		return nil, fmt.Errorf("ort: live: %w", err)
	}
	return p, nil
}

// runProgram runs the program on the values that find returns. If find returns nil for an output, the runtime
// allocates the output and leaves it in p.out; the caller must destroy it.
func (p *program) runProgram(find func(name string) ortgo.Value) (err error) {
	for i, name := range p.ins {
		if p.in[i] = find(name); p.in[i] == nil {
			return fmt.Errorf("ort: live: input %q: no value was given", name)
		}
	}
	for i, name := range p.outs {
		p.out[i] = find(name)
	}
	if p.first {
		p.first = false
		keepSignals(func() { err = p.run.Run(p.in, p.out) })
	} else {
		err = p.run.Run(p.in, p.out)
	}
	if err != nil {
		return fmt.Errorf("ort: live: %w", inOneLine(err))
	}
	return nil
}

func (p *program) closeProgram() error {
	if p.run == nil {
		return nil
	}
	err := p.run.Destroy()
	p.run = nil
	return err
}
