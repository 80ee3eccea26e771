import { nameFile } from './store/sqlite/encrypted-database.ts'
import { StoreError } from './store/store-error.ts'

/** A page that nothing has read before may be the damaged one. */
export function namingDamage(databasePath: string): (error: unknown) => never {
  return (error) => {
    const isDamage = error instanceof StoreError && error.code === 'store_corrupt'
    throw isDamage ? nameFile(databasePath, error) : error
  }
}
