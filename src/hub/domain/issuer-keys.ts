import type { WorkloadProof } from './workload-proof.ts'

export type SignatureVerdict =
  | { readonly ok: true }
  /** No key of the issuer has made it. */
  | { readonly ok: false; readonly why: 'bad'; readonly reason: string }
  /** Nobody can say so now. */
  | { readonly ok: false; readonly why: 'unavailable'; readonly reason: string }

/** Where it is found out whether the issuer of a workload's token has signed it. */
export interface IssuerKeys {
  verify(token: string, proof: WorkloadProof): Promise<SignatureVerdict>
}
