// A mail server of Nodemailer's authors, which is no part of what sends: it takes mails, or answers as it is told.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { callbackify } from 'node:util'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface ReceivedMail {
  readonly raw: string
  readonly parsed: Email
  readonly from: string
  readonly to: readonly string[]
  readonly user: string | undefined
  readonly isEncrypted: boolean
}

export interface MailServer extends AsyncDisposable {
  readonly port: number
  readonly mails: readonly ReceivedMail[]
}

export interface MailServerSettings extends SMTPServerOptions {
  /** What it says of a mail that it was sent; undefined for yes. */
  readonly judge?: (mail: ReceivedMail) => Error | undefined
}

/** An answer of SMTP. */
export function smtpError(status: number, text = 'no'): Error {
  return Object.assign(new Error(text), { responseCode: status })
}

export async function startMailServer({
  judge,
  ...settings
}: MailServerSettings): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    onAuth: ({ username, password }, _session, done) => {
      if (password === 'right pass') done(null, { user: username ?? '' })
      else done(smtpError(535, '5.7.8 the password is not right pass'))
    },
    onData: (stream, session, done) => {
      const receive = async (): Promise<Error | undefined> => {
        const bytes = await buffer(stream)
        const { mailFrom, rcptTo } = session.envelope
        const mail = {
          raw: bytes.toString('utf8'),
          parsed: await PostalMime.parse(bytes),
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: session.user as string | undefined,
          isEncrypted: session.secure,
        }
        const refusal = judge?.(mail)
        if (refusal === undefined) mails.push(mail)
        return refusal
      }
      callbackify(receive)((failure, refusal) => done(failure ?? refusal))
    },
    ...settings,
  })
  server.on('error', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const connection of server.connections) connection.close()
      }),
  }
}
