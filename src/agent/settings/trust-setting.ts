import { parseTrustKey, type TrustKey } from '../../trust/trust-key.ts'

/** What the host's operator demands; undefined leaves it to what the host demanded before, or learns when it enrols. */
export type TrustSetting = TrustKey | 'off' | undefined

/** Null for a text that is neither a trust key nor `off`. docs/protocol.md TRK-5. */
export function parseTrustSetting(text: string | undefined): TrustSetting | null {
  if (text === undefined || text === 'off') return text
  return parseTrustKey(text) ?? null
}
