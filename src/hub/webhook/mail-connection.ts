// One mail server: bounded in time and size, its certificate verified, the address connected to as it was checked.

import { connect, isIP, type Socket } from 'node:net'
import { once } from 'node:events'
import type { NodemailerError, SMTPTransportOptions } from 'nodemailer'
import type { Secret } from '../../platform/secret.ts'
import { type MailReceiver, protocolFor } from '../domain/mail-address.ts'
import type { AddressLookup } from '../outbound/address-lookup.ts'

export interface MailRequest {
  readonly id: string
  readonly subject: string
  readonly text: string
  readonly password: Secret<string>
  readonly signal: AbortSignal
}

export interface MailReply {
  /** What SMTP answered. */
  readonly status: number
  /** Undefined when the server has taken the mail. */
  readonly error: string | undefined
  /** The server does not let this user in. */
  readonly isOfLogin: boolean
}

export interface MailConnection {
  /** Throws when there is no answer, or when the server cannot be trusted. */
  send(request: MailRequest): Promise<MailReply>
}

export interface MailOptions {
  readonly receiver: MailReceiver
  readonly rootsPem: readonly string[]
  readonly lookup: AddressLookup
  /** How the hub calls itself towards the server. */
  readonly hostname: string
}

const REPLY_BYTES_MAX = 16 * 1024
/** The caller's signal is the clock; those of the library would end later. */
const LIBRARY_TIMEOUT_MS = 120_000

export function openMailConnection(options: MailOptions): MailConnection {
  const { receiver } = options
  return {
    send: async ({ id, subject, text, password, signal }) => {
      // The library is for the few hubs that mail.
      const { createTransport } = await import('nodemailer')
      const connection = await openSocket(options, signal)
      const transport = createTransport({ ...settingsOf(options, password), connection })
      try {
        const info = await transport.sendMail({
          from: receiver.from,
          to: receiver.to,
          subject,
          text,
          messageId: id,
          headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
          textEncoding: 'base64',
          disableFileAccess: true,
          disableUrlAccess: true,
          signal,
        })
        return { status: statusIn(info.response), error: undefined, isOfLogin: false }
      } catch (error) {
        signal.throwIfAborted()
        return readFailure(error as NodemailerError)
      } finally {
        transport.close()
        connection.destroy()
      }
    },
  }
}

/** The library would resolve the name itself, and connect to wherever that leads. */
async function openSocket({ receiver, lookup }: MailOptions, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  const { host, port, security } = receiver
  const socket = connect({
    host,
    port,
    lookup: lookup.forProtocol(protocolFor(security)),
    autoSelectFamily: true,
    signal,
  })
  await once(socket, 'connect', { signal })
  // Not only while the library listens: an error that nobody hears ends the hub.
  socket.on('error', () => undefined)
  return socket
}

function settingsOf(
  { receiver, rootsPem, hostname }: MailOptions,
  password: Secret<string>,
): SMTPTransportOptions {
  const { host, port, security, user } = receiver
  return {
    host,
    port,
    name: hostname,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    tls: {
      ca: [...rootsPem],
      minVersion: 'TLSv1.2',
      rejectUnauthorized: true,
      ...(isIP(host) === 0 && { servername: host }),
    },
    ...(user !== undefined && { auth: { user, pass: password.reveal() }, forceAuth: true }),
    maxResponseSize: REPLY_BYTES_MAX,
    connectionTimeout: LIBRARY_TIMEOUT_MS,
    greetingTimeout: LIBRARY_TIMEOUT_MS,
    socketTimeout: LIBRARY_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

const REPLY_CODE = /^(?<status>[2-5]\d{2})(?:[ -](?<detail>[245]\.\d{1,3}\.\d{1,3})\b|(?!\d))/

/** What the server says in words is not repeated: it may say what it was told, and the audit log would have it. */
function readFailure(failure: NodemailerError): MailReply {
  const { response = '', command, code } = failure
  if (response === '') throw new Error(describeNoReply(failure))
  const asked = command !== undefined && /^[A-Z ]{3,12}$/.test(command) ? ` to ${command}` : ''
  const reply = REPLY_CODE.exec(response)?.groups
  if (reply === undefined) {
    throw new Error(`the server answered something else than SMTP${asked}`)
  }
  const { status, detail } = reply
  const said = detail === undefined ? status : `${status} ${detail}`
  return { status: Number(status), error: `answered ${said}${asked}`, isOfLogin: code === 'EAUTH' }
}

/** The message is not looked at: the library puts replies and the names in certificates into it. */
function describeNoReply({ code, originalCode }: NodemailerError): string {
  const known = [originalCode, code].find((text) => text !== undefined && /^\w{1,64}$/.test(text))
  if (known === undefined) return 'the mail was not sent'
  return /CERT|ISSUER|SIGNATURE|CRL/.test(known)
    ? `the server’s certificate is not one that the hub takes: ${known}`
    : `the mail was not sent: ${known}`
}

function statusIn(response: string): number {
  return Number(/^\d{3}/.exec(response)?.[0] ?? 250)
}
