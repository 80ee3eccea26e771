// For how long a host can live without the hub: until the first certificate that it holds and renews has ended.

export interface HeldCertificate {
  /** The delivery's; null for the identity. */
  readonly name: string | null
  readonly notAfter: Date
}

export interface Survival {
  readonly seconds: number
  readonly first: HeldCertificate
}

/** Undefined when nothing is left to lose. */
export function findSurvival(held: readonly HeldCertificate[], now: Date): Survival | undefined {
  const [first] = held
    .filter(({ notAfter }) => notAfter > now)
    .toSorted((one, other) => one.notAfter.getTime() - other.notAfter.getTime())
  if (first === undefined) return undefined
  return { seconds: Math.floor((first.notAfter.getTime() - now.getTime()) / 1000), first }
}
