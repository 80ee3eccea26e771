package main

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Event waits in the outbox until the hub has answered, under one request_id: AGT-28.
type Event struct {
	kind    string
	request []byte
}

func (a *Agent) queue(kind string, payload map[string]any) {
	body, _ := json.Marshal(map[string]any{"tipo_evento": kind, "payload": payload, "request_id": timeOrderedUUID()})
	a.outbox = append(a.outbox, Event{kind, postRequest("/v1/events", body, "")})
}

// While one waits for a hub that is away, a restart adds none.
func (a *Agent) queueStart() {
	for _, event := range a.outbox {
		if event.kind == "agent_started" {
			return
		}
	}
	a.queue("agent_started", map[string]any{"hostname": a.hostname})
}

// Oldest first, until the hub cannot take one now.
func (a *Agent) flush(f *Fleet, stop <-chan struct{}, round *Round) {
	for len(a.outbox) > 0 && round.isOpen() {
		event := a.outbox[0]
		_, err := a.ask(f, stop, "event", event.request)
		var refusal *Refusal
		isForGood := errors.As(err, &refusal) && (refusal.status == 400 || refusal.status == 409)
		if err != nil {
			round.note(err)
			if !isForGood {
				return
			}
		} else if event.kind == "cert_renewed" {
			a.mutex.Lock()
			a.storm.hasRenewed = true
			a.mutex.Unlock()
		}
		a.outbox = a.outbox[1:]
	}
}

// UUIDv7.
func timeOrderedUUID() string {
	var id [16]byte
	rand.Read(id[8:])
	binary.BigEndian.PutUint64(id[:8], uint64(time.Now().UnixMilli())<<16)
	rand.Read(id[6:8])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:])
}
