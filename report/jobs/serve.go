package jobs

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"winnow/report/reply"
)

// View is the data that the page receives.
type View struct {
	Offers []Offer `json:"offers"`
	Job    *Shown  `json:"job"` // null: there was none
}

// Shown is the last job.
type Shown struct {
	Kind    string    `json:"kind"`
	Command string    `json:"command"`
	State   State     `json:"state"`
	Started time.Time `json:"started"`
	Stages  []Stage   `json:"stages"`
	Lines   []string  `json:"lines"` // the last that it printed
	Made    string    `json:"made"`
	Log     string    `json:"log"`
}

// View returns the data for the page.
func (r *Runner) View() View {
	v := View{Offers: []Offer{}}
	for _, o := range r.c.Offers() {
		if !o.Over {
			v.Offers = append(v.Offers, r.withCommands(o))
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.noteEarlierEnd()
	if r.job == nil {
		return v
	}
	v.Job = &Shown{
		Kind:    r.job.Kind,
		Command: r.quoteCommand(r.job.Words),
		State:   r.describeJob(),
		Started: r.job.Started,
		Made:    r.job.Made[len(r.job.Made)-1],
		Log:     r.nameLogFile(),
	}
	v.Job.Stages, v.Job.Lines = readTail(r.nameLogFile())
	return v
}

// withCommands returns an offer with its commands.
func (r *Runner) withCommands(o Offer) Offer {
	usual := map[string]string{}
	for _, c := range o.Choices {
		usual[c.Name] = c.Values[0].Value
	}
	words, _ := o.Words(usual)
	o.Command = r.quoteCommand(words)
	o.Choices = slices.DeleteFunc(append([]Choice{}, o.Choices...), func(c Choice) bool { return c.Fixed })
	for i, c := range o.Choices {
		o.Choices[i].Values = append([]Value{}, c.Values...)
		for k, v := range c.Values {
			chosen := maps.Clone(usual)
			chosen[c.Name] = v.Value
			words, _ := o.Words(chosen)
			o.Choices[i].Values[k].Command = r.quoteCommand(words)
		}
	}
	return o
}

// Handler answers these addresses:
//
//	GET  /api/jobs         [View]
//	POST /api/jobs/start   {"kind": …, "chosen": {…}}
//	POST /api/jobs/again   {}
//	POST /api/jobs/stop    {}
func (r *Runner) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/jobs", func(w http.ResponseWriter, _ *http.Request) {
		reply.JSON(w, http.StatusOK, r.View())
	})
	change := func(do func(body request) error) http.HandlerFunc {
		return func(w http.ResponseWriter, req *http.Request) {
			var body request
			err := reply.Read(req, &body)
			if err == nil {
				err = do(body)
			}
			if err != nil {
				reply.Error(w, err)
				return
			}
			reply.JSON(w, http.StatusOK, r.View())
		}
	}
	mux.HandleFunc("POST /api/jobs/start", change(func(b request) error { return r.Start(b.Kind, b.Chosen) }))
	mux.HandleFunc("POST /api/jobs/again", change(func(request) error { return r.Again() }))
	mux.HandleFunc("POST /api/jobs/stop", change(func(request) error { return r.Stop() }))
	return mux
}

// request is what a page sends to start a job.
type request struct {
	Kind   string            `json:"kind"`
	Chosen map[string]string `json:"chosen"`
}
