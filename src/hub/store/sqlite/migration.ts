/** A numbered step of the tables. It is SQL without clock or chance, so it does the same to each database that was the same before. */
export interface Migration {
  readonly sql: string
  /**
   * The first version of the tables whose program can go on reading and writing when this step was taken: its own number when no earlier one
   * can. A step that only adds may name an earlier one; then hubs are upgraded one after the other.
   */
  readonly readableFrom: number
}

/** A step of migrations.ts: one row. */
export const TABLES_READABLE = `
CREATE TABLE formato (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  versao INTEGER NOT NULL,
  legivel_desde INTEGER NOT NULL
) STRICT;
INSERT INTO formato (id, versao, legivel_desde) VALUES (1, 0, 0);
`
