package main

import (
	"encoding/json"
	"errors"
	"time"
)

// As src/agent/identity/identity-upkeep.ts: the hub is asked what time it is, then for a certificate for a new key. One
// attempt a minute at most, counted from its end.
func (a *Agent) renew(f *Fleet, stop <-chan struct{}, round *Round) {
	err := a.attemptRenewal(f, stop)
	if isOver(stop) {
		return
	}
	if err == nil {
		a.renewal = Retry{notBefore: time.Now().Add(attemptInterval)}
		return
	}
	round.note(err)
	a.renewal.failures++
	a.renewal.notBefore = time.Now().Add(max(attemptInterval, backoff(a.renewal.failures)))
}

func (a *Agent) attemptRenewal(f *Fleet, stop <-chan struct{}) error {
	// Whatever the hub says to that, it says when; where it says nothing, the other port may.
	_, _ = a.askEnrollPort(f, stop, "time", getRequest("/v1/recover", ""), 405)
	old := a.current()
	key, request, err := newKeyAndRequest(a.hostname)
	if err != nil {
		return err
	}
	body, _ := json.Marshal(map[string]string{"csr_pem": request})
	reply, err := a.ask(f, stop, "issue", postRequest("/v1/certs/issue", body, ""))
	if err != nil {
		return err
	}
	var issued struct {
		CertPEM string `json:"cert_pem"`
	}
	if err := json.Unmarshal(reply.body, &issued); err != nil {
		return err
	}
	identity, err := identityFromPEM(key, issued.CertPEM, f.roots)
	if err != nil {
		return err
	}
	identity.newUntil = time.Now().Add(time.Until(identity.notAfter) / 3)
	a.use(identity)
	f.tally.renewedTotal.Add(1)
	a.queue("cert_renewed", map[string]any{
		"old_serial": old.serial, "new_serial": identity.serial, "trigger": "auto_threshold"})
	return nil
}

// From the next request on; the stream begins again with it.
func (a *Agent) use(identity *Identity) {
	a.mutex.Lock()
	old, kept := a.identity, a.kept
	a.identity = identity
	a.mutex.Unlock()
	if kept != nil {
		a.drop(kept)
	}
	if old != nil {
		close(old.replaced)
	}
}

// On a connection for this alone.
func (a *Agent) askEnrollPort(f *Fleet, stop <-chan struct{}, operation string, request []byte, wanted int) (*Reply, error) {
	started := time.Now()
	connection, err := dial("tcp", f.setup.EnrollAddress, a.address, nil, &f.tally.connections)
	if err != nil {
		f.note(stop, operation, err)
		return nil, err
	}
	if !a.hold(connection, stop) {
		return nil, errors.New("over")
	}
	defer a.drop(connection)
	reply, err := connection.ask(request)
	if err == nil && reply.status != wanted {
		err = refusalOf(reply)
	}
	if err != nil {
		f.note(stop, operation, err)
		return nil, err
	}
	f.tally.took(operation, started)
	return reply, nil
}
