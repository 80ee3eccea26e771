package main

import (
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"time"
)

// PendingEnrolment is sent again as it is: AGT-13.
type PendingEnrolment struct {
	key     *ecdsa.PrivateKey
	request []byte
}

const (
	// As src/agent/identity/enroll.ts: how often one command tries what may pass.
	enrolAttempts = 4
	// Then whatever started the command starts it again.
	commandAgain = 5 * time.Second
)

// Makes hosts that have a token and no identity yet.
func (f *Fleet) makeHosts(count int) error {
	first := len(f.agents)
	made := make([]*Agent, count)
	err := inParallel(8, count, func(index int) error {
		agent := newAgent(f.firstHost+index, nil)
		body, _ := json.Marshal(map[string]string{"hostname": agent.hostname, "role": fleetRole})
		connection, err := dial("unix", f.setup.AdminSocket, nil, nil, &f.tally.connections)
		if err != nil {
			return err
		}
		defer connection.close()
		reply, err := connection.ask(postRequest("/v1/admin/tokens", body, ""))
		if err != nil {
			return err
		}
		var created struct {
			Token string `json:"token"`
		}
		if reply.status != 200 || json.Unmarshal(reply.body, &created) != nil {
			return refusalOf(reply)
		}
		agent.token, made[index] = created.Token, agent
		return nil
	})
	f.firstHost += count
	f.agents = append(f.agents[:first], made...)
	return err
}

// False when all agents stop, or the token is no use: then the host would need a second one.
func (a *Agent) enrol(f *Fleet, stop <-chan struct{}) bool {
	if a.pending == nil {
		key, request, err := newKeyAndRequest(a.hostname)
		if err != nil {
			f.tally.failed("enrol", err.Error())
			return false
		}
		body, _ := json.Marshal(map[string]string{
			"token": a.token, "hostname": a.hostname, "role": fleetRole, "csr_pem": request})
		a.pending = &PendingEnrolment{key,
			postRequest("/v1/enroll", body, "Idempotency-Key: "+timeOrderedUUID()+"\r\n")}
	}
	for failures := 1; ; failures++ {
		err := a.attemptEnrolment(f, stop)
		if err == nil {
			return true
		}
		var refusal *Refusal
		isRefused := errors.As(err, &refusal)
		if isRefused && refusal.status < 500 && refusal.status != 408 && refusal.status != 429 {
			f.tally.lostTokens.Add(1)
			return false
		}
		isPassing := !isRefused || refusal.status == 408 || refusal.status == 429 || refusal.status == 503
		delay := backoff(failures)
		if !isPassing || failures == enrolAttempts {
			failures, delay = 0, spread(commandAgain)
		}
		if !wait(stop, delay, nil) {
			return false
		}
	}
}

func (a *Agent) attemptEnrolment(f *Fleet, stop <-chan struct{}) error {
	reply, err := a.askEnrollPort(f, stop, "enrol", a.pending.request, 200)
	if err != nil {
		return err
	}
	var enrolled struct {
		CertPEM string `json:"cert_pem"`
	}
	if err := json.Unmarshal(reply.body, &enrolled); err != nil {
		return err
	}
	identity, err := identityFromPEM(a.pending.key, enrolled.CertPEM, f.roots)
	if err != nil {
		return err
	}
	identity.newUntil = time.Now().Add(time.Until(identity.notAfter) / 3)
	a.use(identity)
	f.tally.enrolledTotal.Add(1)
	return nil
}
