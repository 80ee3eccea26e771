// Fields of config.json as they are read: undefined for what is missing, of another type or out of bounds.

export type Fields = Readonly<Record<string, unknown>>

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function readObject(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

export function readInteger(
  value: unknown,
  bounds: { readonly min: number; readonly max: number },
): number | undefined {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return undefined
  return value >= bounds.min && value <= bounds.max ? value : undefined
}

export function readHex(value: unknown, bytes: number): Buffer | undefined {
  if (typeof value !== 'string' || value.length !== bytes * 2) return undefined
  return /^[0-9a-f]*$/.test(value) ? Buffer.from(value, 'hex') : undefined
}

export function readText(value: unknown, form: RegExp): string | undefined {
  return typeof value === 'string' && form.test(value) ? value : undefined
}
