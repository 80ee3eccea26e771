// What is held against the contract, and how it is said that it does not hold.

export class ContractViolation extends Error {
  override name = 'ContractViolation'
}

export function demand(isSo: boolean | undefined, why: string, detail: unknown = ''): void {
  if (isSo !== true) throw new ContractViolation(`${why} ${String(detail)}`.trim())
}
