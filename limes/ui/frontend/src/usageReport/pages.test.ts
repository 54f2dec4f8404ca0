import { describe, expect, it } from "vitest";
import { nextPage, ReportFile } from "./pages";

const HEADER = "project_name,closed,version\r\n";

function fileOf(...pages: string[][]): ReportFile {
  const file = new ReportFile();
  for (const page of pages) {
    file.beginPage();
    for (const piece of page) file.add(piece);
    file.endPage();
  }
  return file;
}

describe("pages become one file", () => {
  it("with the header line of the first, wherever an answer was cut", () => {
    const pages = [HEADER + "a,true,1\r\n", HEADER + 'b,false,1\r\n"c,""d""",true,2\r\n'];
    const whole = HEADER + 'a,true,1\r\nb,false,1\r\n"c,""d""",true,2\r\n';
    const inPieces = pages.map((page) => [...page]);
    for (const file of [fileOf(...pages.map((page) => [page])), fileOf(...inPieces)]) {
      expect(file.pieces.join("")).toBe(whole);
      expect(file.progress).toEqual({ rows: 3, open: 1 });
    }
  });

  it("with no rows at all", () => expect(fileOf([HEADER]).progress).toEqual({ rows: 0, open: 0 }));

  it("and a line break within a name is no row", () => {
    expect(fileOf([HEADER, '"a\r\n', 'b",true,1\r\n']).progress.rows).toBe(1);
  });

  it.each([[[HEADER, "a,tr"]], [[""]]])("but not a page that breaks off: %j", (page) => expect(() => fileOf(page)).toThrow(TypeError));
});

it.each([
  [null, undefined],
  ['</v1/usage-reports?from=1&marker=p7>; rel="next"', "/v1/usage-reports?from=1&marker=p7"],
  ['<https://elsewhere.example/v1/usage-reports?marker=p7>; rel="next"', "/v1/usage-reports?marker=p7"],
  ['</docs>; rel="help", </v1/usage-reports?marker=p7>; rel=next', "/v1/usage-reports?marker=p7"],
])("finds the next page of %s", (link, path) => expect(nextPage(link, "https://limes")).toBe(path));
