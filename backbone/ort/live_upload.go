package ort

import (
	"fmt"

	ortgo "github.com/yalue/onnxruntime_go"

	"winnow/backbone/graph"
)

// upload keeps the weights on a device. They are refreshed at every Forward, because a solver does not say when
// it changes them; Backward reads what Forward uploaded. On the CPU it is the zero upload, and the network
// reads the parameters in place.
type upload struct {
	program *program // an Identity for every weight: the runtime's own way to copy to the device
	memory  *memory  // of the live network
	blocks  map[string]*block
	to      map[string]string // output of the program → weight
	dims    map[string][]int64
}

func newUpload(l *Live) (upload, error) {
	u := upload{memory: l.memory, blocks: map[string]*block{}, to: map[string]string{}, dims: l.dims}
	b := graph.NewBuilder("upload", 17)
	for _, p := range l.params {
		if len(l.dims[p.Name]) == 0 {
			continue // a scalar is passed with each run
		}
		in := b.Input(p.Name, graph.Float32, graph.ShapeOf(l.dims[p.Name]...))
		out := b.Node("Identity", []string{in})
		b.Output(out)
		u.to[out], u.blocks[p.Name] = p.Name, new(block)
	}
	if len(u.blocks) == 0 {
		return upload{}, nil
	}
	var err error
	u.program, err = newProgram(l.rt, b.Model(), l.options, false)
	return u, err
}

// refresh uploads the weights' current values.
func (u *upload) refresh(p *pass) error {
	if u.program == nil {
		return nil
	}
	for name, b := range u.blocks {
		if err := b.hold(u.memory, Float, u.dims[name]); err != nil {
			return fmt.Errorf("ort: live: weight %q: %w", name, err)
		}
	}
	return u.program.compute(func(name string) ortgo.Value {
		if weight, ok := u.to[name]; ok {
			return u.blocks[weight]
		}
		return p.params[name].value
	})
}

// find returns the weight on the device, or nil if there is none.
func (u *upload) find(name string) ortgo.Value {
	if u.blocks[name] == nil {
		return nil
	}
	return u.blocks[name]
}

func (u *upload) close() error {
	if u.program == nil {
		return nil
	}
	for _, b := range u.blocks {
		b.free()
	}
	err := u.program.close()
	u.blocks = nil
	return err
}
