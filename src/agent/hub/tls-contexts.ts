// What connections trust and show, as OpenSSL has it: memory that only a garbage collection gives back, and those are rare in a
// program that waits. So who trusts and shows the same shares one.

import { createSecureContext, type SecureContext } from 'node:tls'

interface TlsOptions {
  readonly key?: string
  readonly cert?: string
  /** PEM. */
  readonly ca: string | readonly string[]
}

export class TlsContexts {
  #last: { readonly options: TlsOptions; readonly context: SecureContext } | undefined

  /** The last one again, unless it is another. */
  open(options: TlsOptions): SecureContext {
    const last = this.#last
    const { key, cert, ca } = last?.options ?? {}
    if (last !== undefined && key === options.key && cert === options.cert && ca === options.ca) {
      return last.context
    }
    const { ca: trusted } = options
    const context = createSecureContext({
      ...options,
      ca: typeof trusted === 'string' ? trusted : [...trusted],
    })
    this.#last = { options, context }
    return context
  }
}
