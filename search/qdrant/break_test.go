package qdrant

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"winnow/internal/testing/qdranttest"
	"winnow/search/vectordb"
)

// If an upload is killed at any batch, the next call sends exactly the rest; then the index is on.
func TestUploadGoesOnAfterDeath(t *testing.T) {
	for _, old := range []bool{false, true} {
		for _, at := range []int{1, 2, 5, 9} {
			f, d := qdranttest.New(t), source(160, 6)
			f.OldServer = old
			s, _ := dialled(t, f, "")
			ctx, die := context.WithCancel(context.Background())
			f.Fault = func(method string, n int, after bool) error {
				if method == upsertCall && n >= at && after {
					die()
				}
				return nil
			}
			if _, err := vectordb.Upload(ctx, s, d, birds); !errors.Is(err, context.Canceled) {
				t.Fatalf("at %d: %v", at, err)
			}
			f.Stop() // wait for calls in flight
			f.Fault = nil
			f.Start(t, f.Address())
			there := len(f.Collections["birds"].Points)
			if there == 0 || there > 16*(at+streams) || fmt.Sprint(f.Collections["birds"].Ms) != "[0]" {
				t.Fatalf("at %d: %d points, m %v", at, there, f.Collections["birds"].Ms)
			}
			var notes []string
			o := birds
			o.Note = func(text string) { notes = append(notes, text) }
			d = source(160, 6)
			again, _ := dialled(t, f, "") // as the program's next run does
			r, err := vectordb.Upload(context.Background(), again, d, o)
			if err != nil || r.Kept != there || r.Sent != 160-there || r.Created {
				t.Errorf("at %d: %v, %+v, %d were there", at, err, r, there)
			}
			holds(t, f, d, birds.Model)
			if ms := fmt.Sprint(f.Collections["birds"].Ms); old != (ms == "[0]") ||
				old != (len(notes) == 1 && strings.Contains(notes[0], "is not indexed (hnsw m = 0)")) {
				t.Errorf("at %d, server that keeps no metadata %v: m %s, notes %q", at, old, ms, notes)
			}
		}
	}
}

// If an upload is killed after making the collection and before indexing a field, the next call makes the index. An
// existing index is not made again.
func TestUploadIndexesAfterDeath(t *testing.T) {
	const indexCall = "/qdrant.Points/CreateFieldIndex"
	f, d := qdranttest.New(t), source(40, 6)
	s, _ := dialled(t, f, "")
	o := birds
	o.Columns = []string{"label", "split"}
	ctx, die := context.WithCancel(context.Background())
	f.Fault = func(method string, n int, after bool) error {
		if method == indexCall && n == 2 && !after {
			die()
			return status.Error(codes.Unavailable, "gone")
		}
		return nil
	}
	if _, err := vectordb.Upload(ctx, s, d, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	f.Stop() // wait for calls in flight
	f.Fault = nil
	f.Start(t, f.Address())
	if got := fmt.Sprint(f.Collections["birds"].Fields); got != "[label]" {
		t.Fatalf("indexed at the death: %s", got)
	}
	if _, err := vectordb.Upload(context.Background(), s, source(40, 6), o); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(f.Collections["birds"].Fields); got != "[label split]" || f.Calls[indexCall] != 3 {
		t.Errorf("indexed %s by %d calls, expected [label split] by 3", got, f.Calls[indexCall])
	}
	// A finished collection keeps its indexes.
	o.Columns = append(o.Columns, "by")
	if _, err := vectordb.Upload(context.Background(), s, source(40, 6), o); err != nil || f.Calls[indexCall] != 3 {
		t.Errorf("%v, %d calls", err, f.Calls[indexCall])
	}
}

// An upload waits for a server that dies in the middle and returns with what it had stored.
func TestUploadWaitsForServer(t *testing.T) {
	f, d := qdranttest.New(t), source(160, 6)
	s, _ := dialled(t, f, "")
	address, down := f.Address(), make(chan struct{})
	stopped := false
	f.Fault = func(method string, n int, after bool) error {
		if method == upsertCall && n == 4 && after && !stopped {
			stopped = true
			go func() { f.Stop(); close(down) }()
			return status.Error(codes.Unavailable, "going down") // for calls whose answer still gets through
		}
		return nil
	}
	started := false
	s.tries.Sleep = func(ctx context.Context, d time.Duration) error {
		f.Restart(t, down, address, &started)
		return ctx.Err()
	}
	r, err := vectordb.Upload(context.Background(), s, d, birds)
	if err != nil || !started || r.Points != 160 {
		t.Fatal(err, started, r)
	}
	holds(t, f, d, birds.Model)
}

func TestUploadRefuses(t *testing.T) {
	params := func(change func(*client.VectorParams)) *client.CollectionConfig {
		p := &client.VectorParams{Size: 4, Distance: client.Distance_Cosine}
		change(p)
		return &client.CollectionConfig{Params: &client.CollectionParams{VectorsConfig: client.NewVectorsConfig(p)},
			HnswConfig: &client.HnswConfigDiff{}}
	}
	for want, config := range map[string]*client.CollectionConfig{
		`collection "birds": found vectors of 9 values, expected 4`: params(func(p *client.VectorParams) {
			p.Size = 9
		}),
		`collection "birds": found distance Euclid, expected Cosine`: params(func(p *client.VectorParams) {
			p.Distance = client.Distance_Euclid
		}),
		`collection "birds": found several vectors a point, expected one`: params(func(p *client.VectorParams) {
			p.MultivectorConfig = &client.MultiVectorConfig{}
		}),
		`collection "birds": found numbers of type Uint8, expected Float32`: params(func(p *client.VectorParams) {
			p.Datatype = client.Datatype_Uint8.Enum()
		}),
		`collection "birds": found vectors named image, text, expected one without a name`: {
			Params: &client.CollectionParams{VectorsConfig: client.NewVectorsConfigMap(
				map[string]*client.VectorParams{"text": {Size: 4}, "image": {Size: 4}})}},
	} {
		f := qdranttest.New(t)
		f.Collections["birds"] = &qdranttest.Collection{Config: config, Points: map[string]*client.RetrievedPoint{}}
		s, _ := dialled(t, f, "")
		_, err := vectordb.Upload(context.Background(), s, source(10, 4), birds)
		var other *vectordb.OtherCollection
		if !errors.As(err, &other) || err.Error() != "qdrant: "+f.URL()+": "+want {
			t.Errorf("%v\nexpected %s", err, want)
		}
		if f.Calls[upsertCall] != 0 {
			t.Errorf("%s: points were sent", want)
		}
		o := birds
		o.Recreate = true
		if _, err := vectordb.Upload(context.Background(), s, source(10, 4), o); err != nil ||
			len(f.Collections["birds"].Points) != 10 {
			t.Errorf("made again: %v", err)
		}
	}
	f := qdranttest.New(t)
	s, _ := dialled(t, f, "")
	if _, err := vectordb.Upload(context.Background(), s, source(10, 4), birds); err != nil {
		t.Fatal(err)
	}
	o := birds
	o.Model = strings.Repeat("cd", 32)
	if _, err := vectordb.Upload(context.Background(), s, source(10, 4), o); err == nil ||
		!strings.Contains(err.Error(), "found vectors made by abababababab, expected by cdcdcdcdcdcd") {
		t.Errorf("another model: %v", err)
	}
	for want, change := range map[string]func(*drawn){
		"birds/ä 0004.jpg: 3 values, expected 4": func(d *drawn) { d.points[4].Vector = d.points[4].Vector[:3] },
		"birds/ä 0004.jpg: value 2 is NaN, expected a finite number": func(d *drawn) {
			d.points[4].Vector[2] = float32(math.NaN())
		},
		"birds/ä 0004.jpg: the vector is all zeros": func(d *drawn) { clear(d.points[4].Vector) },
		"birds/ä 0004.jpg: appears twice":           func(d *drawn) { d.points[9].Path = d.points[4].Path },
		`birds/ä 0004.jpg: a field of its payload is named "digest"`: func(d *drawn) {
			d.points[4].Payload["digest"] = "x"
		},
		`"birds/\xff.jpg": the path is not UTF-8`: func(d *drawn) {
			d.points[4].Path = "birds/\xff.jpg"
		},
		`field "label" of its payload, "\xff", is not UTF-8`: func(d *drawn) {
			d.points[4].Payload["label"] = "\xff"
		},
		"a point without a path": func(d *drawn) { d.points[4].Path = "" },
	} {
		d := source(10, 4)
		change(d)
		if _, err := vectordb.Upload(context.Background(), s, d, birds); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v\nexpected %s", err, want)
		}
	}
}

// Points that the server lost or changed are detected at the end.
func TestUploadVerifies(t *testing.T) {
	for want, spoil := range map[string]func(c *qdranttest.Collection, id string){
		"found 119 points at the end, expected 120": func(c *qdranttest.Collection, id string) { delete(c.Points, id) },
		"read back: its vector differs by": func(c *qdranttest.Collection, id string) {
			c.Points[id].GetVectors().GetVector().GetDense().Data[1] += 1e-3
		},
		`read back: found label "9", expected "3"`: func(c *qdranttest.Collection, id string) {
			c.Points[id].Payload["label"] = client.NewValueString("9")
		},
		"read back: found none": func(c *qdranttest.Collection, id string) {
			c.Points["00000000-0000-5000-8000-000000000000"] = c.Points[id]
			delete(c.Points, id)
		},
	} {
		f, d := qdranttest.New(t), source(120, 6)
		s, _ := dialled(t, f, "")
		f.Fault = func(method string, n int, after bool) error {
			if method == countCall && !after {
				spoil(f.Collections["birds"], ID(d.points[3].Path))
			}
			return nil
		}
		if _, err := vectordb.Upload(context.Background(), s, d, birds); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v\nexpected %s", err, want)
		}
		if f.Collections["birds"].Config.Metadata[uploadKey].GetStringValue() != unfinished {
			t.Errorf("%s: the upload says that it is finished", want)
		}
	}
	// The upload waits for points that the server has accepted but not stored yet.
	f := qdranttest.New(t)
	f.Late = 3
	s, pauses := dialled(t, f, "")
	if r, err := vectordb.Upload(context.Background(), s, source(30, 6), birds); err != nil || r.Points != 30 ||
		len(*pauses) != 3 {
		t.Errorf("%v, %+v, pauses %v", err, r, *pauses)
	}
}

func TestKey(t *testing.T) {
	f := qdranttest.New(t)
	f.Key = "open sesame"
	s, pauses := dialled(t, f, f.Key)
	if _, err := vectordb.Upload(context.Background(), s, source(10, 4), birds); err != nil {
		t.Fatal(err)
	}
	s, _ = dialled(t, f, "wrong secret")
	_, err := vectordb.Upload(context.Background(), s, source(10, 4), birds)
	var refused *vectordb.RequestError
	if !errors.As(err, &refused) || !refused.Refused || strings.Contains(err.Error(), "secret") || len(*pauses) != 0 {
		t.Errorf("%v, pauses %v", err, *pauses)
	}
}

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]string{
		"http://localhost": "http://localhost:6334", "https://x.example:443/": "https://x.example:443",
		"http://[::1]:7": "http://[::1]:7",
		"localhost:6334": "", "http://": "", "grpc://x": "", "http://x/collections": "", "http://x?a=b": "",
		"http://x:0": "", "http://me:secret@x": "", "http://x:70000": "", "http://a b:\x7f": "",
	} {
		a, err := ParseAddress(text)
		if (err == nil) != (want != "") || err == nil && a.String() != want {
			t.Errorf("%q: %v, %v", text, a, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]bool{"http://localhost": true, "http://127.0.0.9": true, "http://[::1]": true,
		"http://10.0.0.1": false, "http://example.org": false} {
		if a, err := ParseAddress(text); err != nil || a.Loopback() != want {
			t.Errorf("%s: loopback %v, %v", text, a.Loopback(), err)
		}
	}
}
