import type { WireErrorCode } from '../../../protocol/errors.ts'

/** A request that the shell itself refuses, before any service is asked. */
export class RequestRefusal extends Error {
  override name = 'RequestRefusal'
  readonly refusal: WireErrorCode
  constructor(refusal: WireErrorCode, why: string) {
    super(why)
    this.refusal = refusal
  }
}
