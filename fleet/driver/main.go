// The driver of `npm run fleet`: agents that do on the wire what svc-agent does, thousands in one process. One JSON
// command a line on stdin, one JSON answer a line on stdout; the agents go on meanwhile.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Command is one line of stdin.
type Command struct {
	Do string `json:"do"`
	// Of ca: where it is, and the directory with its intermediate's key.
	URL       string `json:"url"`
	RootPath  string `json:"root_path"`
	Directory string `json:"directory"`
	// Of setup.
	Setup Setup `json:"setup"`
	// Of make and hosts: how many; of make: for how many of them this process speaks, how old they are, and where to
	// write them down.
	Count         int     `json:"count"`
	Kept          int     `json:"kept"`
	AgeMinSeconds float64 `json:"age_min_seconds"`
	AgeMaxSeconds float64 `json:"age_max_seconds"`
	Path          string  `json:"path"`
	// Of start and restart.
	Streams     int     `json:"streams"`
	RampSeconds float64 `json:"ramp_seconds"`
	Renews      bool    `json:"renews"`
	// Of deliver.
	Broken Broken `json:"broken"`
	// Of stand-in.
	Enrolled int `json:"enrolled"`
}

func main() {
	fleet := &Fleet{tally: newTally()}
	input := bufio.NewScanner(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	for input.Scan() {
		var command Command
		answer, err := any(struct{}{}), json.Unmarshal(input.Bytes(), &command)
		if err == nil {
			answer, err = fleet.obey(command)
		}
		if err != nil {
			answer = map[string]string{"error": fmt.Sprintf("%s: %v", command.Do, err)}
		}
		if output.Encode(answer) != nil {
			return
		}
	}
}

func (f *Fleet) obey(command Command) (any, error) {
	done := struct{}{}
	switch command.Do {
	case "ca":
		err := f.openCa(command.URL, command.RootPath, command.Directory)
		if err != nil {
			return nil, err
		}
		return map[string]string{"gate_url": "https://" + f.gate.address}, nil
	case "setup":
		f.setup = command.Setup
		return done, nil
	case "make":
		f.firstHost = command.Count
		return done, f.makeAgents(command.Count, command.Kept,
			seconds(command.AgeMinSeconds), seconds(command.AgeMaxSeconds), command.Path)
	case "hosts":
		return done, f.makeHosts(command.Count)
	case "start":
		f.renews.Store(command.Renews)
		f.start(command.Streams, seconds(command.RampSeconds))
		return done, nil
	case "stand-in":
		f.standIn(command.Enrolled)
		return done, nil
	case "restart":
		f.restart(command.Streams)
		return done, nil
	case "deliver":
		f.beginDeliveries(command.Broken)
		return done, nil
	case "renewal":
		f.beginStorm(&Storm{began: time.Now(), renewal: true})
		f.renews.Store(true)
		return done, nil
	case "sample":
		return f.tally.take(f.gate), nil
	}
	return nil, fmt.Errorf("no such command")
}

func seconds(count float64) time.Duration { return time.Duration(count * float64(time.Second)) }
