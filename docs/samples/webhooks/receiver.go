// A webhook receiver without dependencies, for Go 1.18 or newer.
//
//	WEBHOOK_SECRET=whsec_… PORT=8080 go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	toleranceSeconds = 300
	bodyBytesMax     = 1_000_000
)

// isAuthentic reports whether Bookflow signed this request. rawBody must be the bytes as received, not JSON that was
// parsed and serialised again.
func isAuthentic(header string, rawBody []byte, secret string) bool {
	timestamp := ""
	var given []string
	for _, part := range strings.Split(header, ",") {
		part = strings.TrimSpace(part)
		if strings.HasPrefix(part, "t=") {
			timestamp = part[len("t="):]
		} else if strings.HasPrefix(part, "v1=") {
			given = append(given, part[len("v1="):])
		}
	}
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if err != nil {
		return false
	}
	if age := time.Now().Unix() - int64(seconds); age > toleranceSeconds || age < -toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	expected := []byte(hex.EncodeToString(mac.Sum(nil)))
	// For 24 hours after a rotation, requests carry one signature per secret. Either is enough.
	for _, one := range given {
		if hmac.Equal([]byte(one), expected) {
			return true
		}
	}
	return false
}

type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Booking struct {
			Reference string `json:"reference"`
		} `json:"booking"`
	} `json:"data"`
}

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	if !strings.HasPrefix(secret, "whsec_") {
		log.Fatal("Set WEBHOOK_SECRET to the endpoint's signing secret, whsec_ included")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	// In production, use a table with a unique column: an event may arrive again, even after you restart.
	var seen sync.Map
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		rawBody, err := io.ReadAll(http.MaxBytesReader(response, request.Body, bodyBytesMax))
		if err != nil {
			http.Error(response, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		if !isAuthentic(request.Header.Get("Service-Signature"), rawBody, secret) {
			http.Error(response, "bad signature", http.StatusBadRequest)
			return
		}
		var received event
		if err := json.Unmarshal(rawBody, &received); err != nil {
			http.Error(response, "not JSON", http.StatusBadRequest)
			return
		}
		_, isKnown := seen.LoadOrStore(received.ID, true)
		// Respond once the event is stored and before you process it. Bookflow waits 15 seconds for a response.
		response.WriteHeader(http.StatusNoContent)
		if !isKnown && received.Type == "booking.created" {
			fmt.Println(received.ID, received.Data.Booking.Reference)
		}
	})
	fmt.Fprintln(os.Stderr, "ready")
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
