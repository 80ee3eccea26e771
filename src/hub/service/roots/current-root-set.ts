import { type Certificate, parseCertificatesPem } from '../../../pki/certificates.ts'
import type { BundleReplyBody } from '../../../protocol/schemas.ts'
import type { RootSet } from '../../domain/root-set.ts'

/** The set in force in this process; what every poll asks for is worked out once. */
export class CurrentRootSet {
  #set: RootSet
  #roots: readonly Certificate[]
  #reply: BundleReplyBody

  constructor(set: RootSet) {
    this.#set = set
    this.#roots = parseCertificatesPem(set.pem)
    this.#reply = replyOf(set, this.#roots)
  }

  get set(): RootSet {
    return this.#set
  }
  get roots(): readonly Certificate[] {
    return this.#roots
  }
  /** What GET /v1/bundle answers. */
  get reply(): BundleReplyBody {
    return this.#reply
  }

  replace(set: RootSet): void {
    this.#set = set
    this.#roots = parseCertificatesPem(set.pem)
    this.#reply = replyOf(set, this.#roots)
  }
}

function replyOf({ epoch, number }: RootSet, roots: readonly Certificate[]): BundleReplyBody {
  return {
    numero: number,
    ...(epoch > 1 && { epoca: epoch }),
    roots: roots.map(({ pem }) => pem),
  }
}
