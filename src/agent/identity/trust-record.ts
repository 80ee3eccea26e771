// `identity/trust.json`: the trust key that this host demands a signature by, and the newest set that it confirmed. It stays
// when the certificate is renewed or recovered, and when the host enrols again: what was demanded once is demanded until
// somebody on the host says otherwise. docs/protocol.md TRK-5.

import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { UserError } from '../../platform/errors.ts'
import { readTextIfPresent, removeIfPresent, replaceFile } from '../../platform/files.ts'
import type { Logger } from '../../platform/logger.ts'
import { parseJson } from '../../platform/parse-json.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { parseTrustKey, type TrustKey } from '../../trust/trust-key.ts'
import type { BundleNumber } from '../hub/wire.ts'
import type { TrustSetting } from '../settings/trust-setting.ts'

const trustKey = Type.String({ maxLength: LIMITS.trustKeyCharactersMax })
const number = Type.Integer({ minimum: 0, maximum: LIMITS.rootSetNumberMax })

const TrustRecord = Type.Object({
  /** The last SVC_AGENT_TRUST_KEY; null where the key is the one that the host was told at its enrolment. */
  given: Type.Union([trustKey, Type.Null()]),
  /** That one, or one that it led to. */
  trust_key: trustKey,
  /** The newest set that a trust key of the fleet signed; 0 before the first. */
  epoca: number,
  numero: number,
  /** Whether `trust_key` confirmed it. */
  is_confirmed: Type.Boolean(),
})
type TrustRecord = Static<typeof TrustRecord>

export interface TrustDemand {
  readonly given: string | null
  readonly key: TrustKey
  /** No set before it is adopted, not even a signed one. */
  readonly newest: BundleNumber
  readonly isConfirmed: boolean
}

const FILE_BYTES_MAX = 4096

/** Undefined when nobody demands anything; throws a UserError for a file that cannot be understood. */
export async function readTrustDemand(path: string): Promise<TrustDemand | undefined> {
  const text = await readTextIfPresent(path, FILE_BYTES_MAX)
  return text === undefined ? undefined : parseRecord(text, path)
}

/** What the host demands from now on: what its operator sets counts, else what it demanded before. */
export async function settleTrustDemand(
  path: string,
  setting: TrustSetting,
  log: Logger,
): Promise<TrustDemand | undefined> {
  if (setting === 'off') {
    if ((await readTextIfPresent(path, FILE_BYTES_MAX)) === undefined) return undefined
    await removeIfPresent(path)
    log.warn('Signed roots no longer demanded')
    return undefined
  }
  if (setting === undefined) return readTrustDemand(path)
  // A file that cannot be understood demands what the operator says again.
  const known = await readTrustDemand(path).catch(() => undefined)
  if (known?.given === setting.text) return known
  const isSameFleet = known?.key.fleet === setting.fleet
  const demand: TrustDemand = {
    given: setting.text,
    key: setting,
    newest: isSameFleet ? known.newest : { epoch: 0, number: 0 },
    isConfirmed: false,
  }
  await storeTrustDemand(path, demand)
  log.info({ trust_key: setting.text }, 'Signed roots demanded')
  return demand
}

export async function storeTrustDemand(path: string, demand: TrustDemand): Promise<void> {
  const { given, key, newest, isConfirmed } = demand
  const record: TrustRecord = {
    given,
    trust_key: key.text,
    epoca: newest.epoch,
    numero: newest.number,
    is_confirmed: isConfirmed,
  }
  await replaceFile(path, `${JSON.stringify(record)}\n`, 0o600)
}

function parseRecord(text: string, path: string): TrustDemand {
  const record = parseJson(text)
  const key = Check(TrustRecord, record) ? parseTrustKey(record.trust_key) : undefined
  if (!Check(TrustRecord, record) || key === undefined) {
    throw new UserError(
      'trust_damaged',
      `${path} is damaged, and says by which key roots are signed`,
      {
        hint: 'SVC_AGENT_TRUST_KEY says it again, or off',
      },
    )
  }
  const newest = { epoch: record.epoca, number: record.numero }
  return { given: record.given, key, newest, isConfirmed: record.is_confirmed }
}
