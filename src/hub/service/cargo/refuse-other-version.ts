import type { Cargo } from '../../domain/cargo.ts'
import { AdminRefusal } from '../admin-act.ts'

/** Throws an AdminRefusal when the carga has another version than the one that the caller saw, if the caller says which. */
export function refuseOtherVersion({ id, version }: Cargo, expected: number | undefined): void {
  if (expected === undefined || expected === version) return
  throw new AdminRefusal('versao_changed', `load ${id} has version ${version} now`)
}
