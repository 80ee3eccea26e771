import { SvcError } from '../../platform/errors.ts'

/**
 * `store_unavailable`: the write did not happen and may be tried again (disk full, I/O error, closed, overloaded);
 * `store_conflict`: it would break a rule of the tables; `lease_lost`: another hub does that now; `hub_removed`, `hub_deposed`: so does
 * another one all that this hub did;  `store_unknown`: nobody can say whether
 * the write happened; `store_diverged`: this database is not what others have; `store_behind`: it lacks records that nobody has any more;
 * `hubs_older`: a hub that runs could not go on with tables that this one needs; the others say that the database cannot be used.
 */
export type StoreErrorCode =
  | 'store_unavailable'
  | 'store_conflict'
  | 'lease_lost'
  | 'hub_removed'
  | 'hub_deposed'
  | 'hub_twice'
  | 'store_diverged'
  | 'store_behind'
  | 'store_unknown'
  | 'store_missing'
  | 'store_exists'
  | 'store_corrupt'
  | 'store_newer'
  | 'hubs_older'

export class StoreError extends SvcError {
  override name = 'StoreError'
  declare readonly code: StoreErrorCode
  constructor(
    code: StoreErrorCode,
    message: string,
    options: { cause?: unknown; hint?: string } = {},
  ) {
    super(code, message, options)
  }
}
