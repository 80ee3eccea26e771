import { type Certificate, parseCertificatesPem } from '../../../pki/certificates.ts'
import type { BundleReplyBody, EnrollReplyBody } from '../../../protocol/schemas.ts'
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
  /** What a host that enrols is told of who signs the sets; nothing where nobody does. docs/protocol.md TRK-6. */
  get enrolmentTrust(): Pick<EnrollReplyBody, 'trust_key' | 'signed'> {
    const { trust } = this.#set
    return trust === undefined ? {} : { trust_key: trust.key, signed: trust.signed }
  }

  replace(set: RootSet): void {
    this.#set = set
    this.#roots = parseCertificatesPem(set.pem)
    this.#reply = replyOf(set, this.#roots)
  }
}

function replyOf(
  { epoch, number, trust }: RootSet,
  roots: readonly Certificate[],
): BundleReplyBody {
  return {
    numero: number,
    ...(epoch > 1 && { epoca: epoch }),
    roots: roots.map(({ pem }) => pem),
    ...(trust && { signed: trust.signed }),
  }
}
