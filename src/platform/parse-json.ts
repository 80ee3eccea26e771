/** What the text says; undefined where it is no JSON, which no schema takes. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
