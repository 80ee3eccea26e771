import type { IssuerKeys } from '../../src/hub/domain/issuer-keys.ts'

/** For hubs whose join rules take no workload's token. */
export const NO_ISSUERS: IssuerKeys = {
  verify: () => Promise.reject(new Error('no issuer is asked')),
}
