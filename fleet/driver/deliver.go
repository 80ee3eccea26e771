package main

import (
	"encoding/json"
	"errors"
	"math/rand"
	"time"
)

// Entrega is what a manifest says of a delivery: docs/protocol.md MAN-3.
type Entrega struct {
	ID     string `json:"id"`
	Kind   string `json:"tipo"`
	Name   string `json:"nome"`
	Versao int    `json:"versao"`
}

// Broken says on which hosts the reload of a target fails, and from which versao on.
type Broken struct {
	// One host of so many; none for 0.
	OneOf  int `json:"one_of"`
	Versao int `json:"versao"`
}

const (
	targetName    = "site.toml"
	wakeAllWithin = 5 * time.Second
)

// As src/agent/round: a key and a certificate for each, its report, and what became of the one target that serves it. What could
// not be had now is in the next manifest again.
func (a *Agent) deliver(f *Fleet, stop <-chan struct{}, round *Round, entregas []Entrega) {
	for _, entrega := range entregas {
		if entrega.Kind != "csr_cert" {
			continue
		}
		if !round.isOpen() || isOver(stop) {
			a.etag = ""
			return
		}
		serial, err := a.obtain(f, stop, entrega)
		if err != nil {
			var refusal *Refusal
			// It was cancelled or replaced meanwhile.
			if !errors.As(err, &refusal) || refusal.status != 404 {
				round.note(err)
				a.etag = ""
			}
			continue
		}
		a.queueFor(entrega, "entrega_instalada", map[string]any{
			"cert_path": "out/" + entrega.Name + ".crt", "key_path": "out/" + entrega.Name + ".key",
			"carga_nome": entrega.Name, "serial": serial, "alvos": []string{targetName}})
		said := map[string]any{"nome": entrega.Name, "alvo": targetName, "serial": serial}
		if f.isBroken(a.number, entrega.Versao) {
			said["step"], said["reason"] = "reload", "exit status 1"
			a.queueFor(entrega, "alvo_revertido", said)
			f.tally.broken.Add(1)
		} else {
			said["files"], said["probe"] = []string{"/etc/nginx/site.pem"}, "ok"
			a.queueFor(entrega, "alvo_aplicado", said)
		}
		f.tally.delivered.Add(1)
	}
}

func (a *Agent) obtain(f *Fleet, stop <-chan struct{}, entrega Entrega) (string, error) {
	key, request, err := newKeyAndRequest(a.hostname)
	if err != nil {
		return "", err
	}
	body, _ := json.Marshal(map[string]string{"csr_pem": request, "entrega_id": entrega.ID})
	reply, err := a.ask(f, stop, "issue", postRequest("/v1/certs/issue", body, ""))
	if err != nil {
		return "", err
	}
	var issued struct {
		CertPEM string `json:"cert_pem"`
	}
	if err := json.Unmarshal(reply.body, &issued); err != nil {
		return "", err
	}
	identity, err := identityFromPEM(key, issued.CertPEM, f.roots)
	if err != nil {
		return "", err
	}
	return identity.serial, nil
}

func (a *Agent) queueFor(entrega Entrega, kind string, payload map[string]any) {
	body, _ := json.Marshal(map[string]any{
		"tipo_evento": kind, "payload": payload, "entrega_id": entrega.ID, "request_id": timeOrderedUUID()})
	a.outbox = append(a.outbox, Event{kind, postRequest("/v1/events", body, "")})
}

// Spread evenly over the numbers of hosts, and the same at each try.
func (f *Fleet) isBroken(number, versao int) bool {
	broken := f.broken.Load()
	return broken != nil && broken.OneOf > 0 && versao == broken.Versao && number%broken.OneOf == broken.OneOf-1
}

// From now on agents deliver, and poll soon for what they have been given.
func (f *Fleet) beginDeliveries(broken Broken) {
	f.broken.Store(&broken)
	for _, agent := range f.agents {
		time.AfterFunc(time.Duration(rand.Float64()*float64(wakeAllWithin)), agent.wakeUp)
	}
}
