// Whether a server serves the certificate that was just put in place: it is asked, as its clients ask it.

import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls'
import { systemClock } from '../../platform/clock.ts'
import { plainHex } from '../../pki/certificates.ts'
import type { TargetProbe } from './target.ts'

export type ProbeResult =
  /** `sha256` of the certificate, lower-case hex. */
  | { readonly ok: true; readonly serial: string; readonly sha256: string }
  | { readonly ok: false; readonly reason: string }

export type ProbeVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: string }

const TIMEOUT_MS = 10_000
const PAUSE_MS = 200
/** A server that hangs once, while it reloads, must not use up all the time there is. */
const ATTEMPT_MS_MAX = 3_000
const REASON_LENGTH_MAX = 200

/** `SSLRequest` of the PostgreSQL protocol: its length, and the number of a version that there will never be. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])
const SSL_ACCEPTED = 'S'

/** Asks until the serial served is `serial` (lower-case hex); if it never is, the reason says what the last answer was. */
export async function awaitServedSerial(
  probe: TargetProbe,
  serial: string,
  timeoutMs = TIMEOUT_MS,
): Promise<ProbeVerdict> {
  // A server answers in real time, whatever a Clock says, and steps of the wall clock are nothing to it.
  const endMs = performance.now() + timeoutMs
  let last: ProbeResult | undefined
  for (;;) {
    const leftMs = Math.max(1, endMs - performance.now())
    const result = await probeServed(probe, { deadlineMs: Math.min(leftMs, ATTEMPT_MS_MAX) })
    if (result.ok && result.serial === serial) return { ok: true }
    const isOver = performance.now() + PAUSE_MS >= endMs
    // One that the end cut short says less about the server than the one before it.
    const isCutShort = isOver && !result.ok && leftMs < ATTEMPT_MS_MAX
    if (last === undefined || !isCutShort) last = result
    if (isOver) return { ok: false, reason: reasonOf(probe, last, serial) }
    await systemClock.sleep(PAUSE_MS)
  }
}

function reasonOf(probe: TargetProbe, last: ProbeResult, serial: string): string {
  return last.ok ? `${addressOf(probe)} serves serial ${last.serial}, not ${serial}` : last.reason
}

/** One attempt. Who the server is does not matter, only which certificate it shows: nothing secret is sent to it. */
export function probeServed(
  probe: TargetProbe,
  { deadlineMs }: { readonly deadlineMs: number },
): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const tcp = connectTcp({ host: probe.host, port: probe.port })
    let served: { readonly serial: string; readonly sha256: string } | undefined
    const finish = (result: ProbeResult): void => {
      clearTimeout(timer)
      tcp.destroy()
      resolve(result)
    }
    /** Once the server has shown its certificate, it does not matter how the connection ends. */
    const end = (why: string): void => {
      if (served !== undefined) finish({ ok: true, ...served })
      else finish({ ok: false, reason: `${addressOf(probe)} ${why.slice(0, REASON_LENGTH_MAX)}` })
    }
    // tidy: a server answers in real time.
    const timer = setTimeout(
      () => end(`did not answer within ${Math.round(deadlineMs / 100) / 10} s`),
      deadlineMs,
    )
    tcp.on('error', (error) => end(`cannot be reached: ${wordsOf(error)}`))
    tcp.on('close', () => end('closed the connection'))
    const shakeHands = (): void => {
      const tls = shakeHandsOver(tcp, probe)
      const look = (): void => {
        // Not getPeerX509Certificate, which loses memory with each call.
        const peer = tls.getPeerCertificate() as Partial<PeerCertificate> | null
        const { serialNumber, fingerprint256 } = peer ?? {}
        if (serialNumber === undefined || fingerprint256 === undefined) return
        served ??= { serial: serialNumber.toLowerCase(), sha256: plainHex(fingerprint256) }
      }
      tls.on('secureConnect', () => {
        look()
        // With half of a handshake the server would have something to complain about [TGT-46].
        tls.end(() => end('shows no certificate'))
      })
      // A server that asks for a client certificate refuses the probe only after it has shown its own certificate.
      tls.on('error', (error) => {
        look()
        end(`does not speak TLS: ${wordsOf(error)}`)
      })
    }
    if (probe.protocol === 'tls') tcp.once('connect', shakeHands)
    else askPostgresForTls(tcp, shakeHands, end)
  })
}

function shakeHandsOver(socket: Socket, { serverName }: TargetProbe): TLSSocket {
  return connectTls({
    socket,
    rejectUnauthorized: false,
    ...(serverName === undefined ? {} : { servername: serverName }),
  })
}

/** PostgreSQL answers with one letter, and not a byte more before the handshake. */
function askPostgresForTls(tcp: Socket, onAccepted: () => void, fail: (why: string) => void): void {
  tcp.once('connect', () => tcp.write(SSL_REQUEST))
  tcp.once('data', (answer) => {
    tcp.pause()
    if (answer.toString('latin1') === SSL_ACCEPTED) onAccepted()
    else fail('is not a PostgreSQL server that offers TLS')
  })
}

function addressOf({ host, port }: TargetProbe): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** OpenSSL's own message is a dump of its error queue; its code says as much. */
function wordsOf(error: Error): string {
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.message.split('\n', 1)[0] ?? error.name
}
