// Shows a dashboard with Grafana's own components. What only Grafana's server and its panels know is here in short: the
// grid, the defaults of a panel, how Prometheus' answers become frames.
import {
  applyFieldOverrides,
  createTheme,
  dateTime,
  EventBusSrv,
  FieldType,
  getDisplayValueAlignmentFactors,
  getFieldDisplayValues,
  standardFieldConfigEditorRegistry,
  toDataFrame,
} from '@grafana/data';
import { initPluginTranslations } from '@grafana/i18n';
import {
  BarGauge,
  BigValue,
  GlobalStyles,
  PanelChrome,
  PanelContextProvider,
  ThemeContext,
  TimeSeries,
  VizRepeater,
} from '@grafana/ui';
import { createRoot } from 'react-dom/client';

const CELL = 30;
const GAP = 8;
const theme = createTheme({ colors: { mode: 'dark' } });
const standard = ['unit', 'min', 'max', 'decimals', 'displayName', 'color', 'noValue', 'mappings', 'thresholds'];
const plotted = {
  drawStyle: 'line',
  lineInterpolation: 'linear',
  lineWidth: 1,
  fillOpacity: 0,
  gradientMode: 'none',
  showPoints: 'auto',
  pointSize: 5,
  spanNulls: false,
  axisPlacement: 'auto',
  axisSoftMin: undefined,
  axisSoftMax: undefined,
  scaleDistribution: { type: 'linear' },
  stacking: { mode: 'none', group: 'A' },
  hideFrom: { tooltip: false, viz: false, legend: false },
  thresholdsStyle: { mode: 'off' },
};

function property(path: string, isCustom: boolean): any {
  const id = isCustom ? `custom.${path}` : path;
  return { id, path, isCustom, name: path, process: (value: any) => value, shouldApply: () => true };
}

standardFieldConfigEditorRegistry.setInit(() => [
  ...standard.map((path) => property(path, false)),
  ...Object.keys(plotted).map((path) => property(path, true)),
]);

/** A panel's own settings over its defaults. One that is not known here is a mistake, here or there. */
function fieldConfig(panel: any): any {
  const { custom, ...defaults } = panel.fieldConfig.defaults;
  const ids = [...Object.keys(defaults), ...Object.keys(custom ?? {}).map((key) => `custom.${key}`)];
  const overridden = panel.fieldConfig.overrides.flatMap((rule: any) => rule.properties.map((one: any) => one.id));
  for (const id of [...ids, ...overridden]) {
    if (!standardFieldConfigEditorRegistry.getIfExists(id)) {
      throw new Error(`${panel.title}: no such setting of a field: ${id}`);
    }
  }
  const color = { mode: panel.type === 'timeseries' ? 'palette-classic' : 'thresholds' };
  const thresholds = panel.type === 'timeseries' ? undefined : { mode: 'absolute', steps: [] };
  return {
    defaults: { color, thresholds, ...defaults, custom: { ...plotted, ...custom } },
    overrides: panel.fieldConfig.overrides,
  };
}

/** One frame for each series, as Grafana's data source makes them. */
function frames(panel: any): any[] {
  const made = panel.series.map(({ name, labels, values }: any) =>
    toDataFrame({
      fields: [
        { name: 'Time', type: FieldType.time, config: {}, values: values.map(([at]: any) => at * 1000) },
        {
          name: 'Value',
          type: FieldType.number,
          labels,
          config: name ? { displayNameFromDS: name } : {},
          values: values.map(([, value]: any) => Number(value.replace('Inf', 'Infinity'))),
        },
      ],
    })
  );
  return applyFieldOverrides({
    data: made,
    fieldConfig: fieldConfig(panel),
    replaceVariables: (text: string) => text,
    theme,
    timeZone: 'utc',
  });
}

/** What cannot be drawn is a gap: the quantile of no requests is not a number. */
function withGaps(frame: any): any {
  const finite = (value: any): any => (Number.isFinite(value) ? value : null);
  return { ...frame, fields: frame.fields.map((field: any) => ({ ...field, values: field.values.map(finite) })) };
}

function Plot({ panel, data, width, height, range }: any): any {
  const legend = { showLegend: true, displayMode: 'list', placement: 'bottom', calcs: [], ...panel.options.legend };
  const timeRange = { from: dateTime(range[0] * 1000), to: dateTime(range[1] * 1000), raw: { from: '', to: '' } };
  return <TimeSeries {...{ frames: data.map(withGaps), width, height, legend, timeRange }} timeZone="utc" options={panel.options} />;
}

function Values({ panel, data, width, height, render, orientation }: any): any {
  const reduceOptions = { values: false, calcs: ['lastNotNull'], fields: '', ...panel.options.reduceOptions };
  const getValues = (): any =>
    getFieldDisplayValues({
      data,
      reduceOptions,
      fieldConfig: fieldConfig(panel),
      replaceVariables: (text: string) => text,
      theme,
      timeZone: 'utc',
    });
  return (
    <VizRepeater
      {...{ width, height, getValues, orientation, source: data, renderCounter: 0 }}
      getAlignmentFactors={getDisplayValueAlignmentFactors as any}
      renderValue={render}
      minVizHeight={panel.options.minVizHeight ?? 16}
      maxVizHeight={panel.options.maxVizHeight ?? 300}
    />
  );
}

const bar =
  (panel: any) =>
  ({ value, width, height, orientation, alignmentFactors }: any): any => (
    <BarGauge
      {...{ width, height, orientation, alignmentFactors, theme }}
      value={value.display}
      field={value.field}
      display={value.view?.getFieldDisplayProcessor(value.colIndex)}
      displayMode={panel.options.displayMode ?? 'gradient'}
      showUnfilled={panel.options.showUnfilled ?? true}
      valueDisplayMode={panel.options.valueMode ?? 'color'}
      namePlacement={panel.options.namePlacement ?? 'auto'}
      text={panel.options.text}
      itemSpacing={8}
      lcdCellWidth={8}
    />
  );

const big =
  (panel: any) =>
  ({ value, width, height, count, alignmentFactors }: any): any => (
    <BigValue
      {...{ width, height, count, alignmentFactors, theme }}
      value={value.display}
      colorMode={panel.options.colorMode ?? 'value'}
      graphMode={'none' as any}
      textMode={panel.options.textMode ?? 'auto'}
      text={panel.options.text}
    />
  );

function Content({ panel, width, height, range }: any): any {
  const data = frames(panel);
  if (panel.type === 'timeseries') {
    return data.length === 0 ? <div>No data</div> : <Plot {...{ panel, data, width, height, range }} />;
  }
  const kinds: any = { stat: big, bargauge: bar };
  const orientation = panel.options.orientation ?? 'auto';
  return <Values {...{ panel, data, width, height, orientation }} render={kinds[panel.type](panel)} />;
}

function Panel({ panel, cell, range }: any): any {
  const { x, y, w, h } = panel.gridPos;
  const [width, height] = [w * cell - GAP, h * (CELL + GAP) - GAP];
  const style = { position: 'absolute', left: x * cell, top: y * (CELL + GAP), width, height } as any;
  if (panel.type === 'row') {
    return <h3 style={style}>{panel.title}</h3>;
  }
  return (
    <div data-panel={panel.id} style={style}>
      <PanelChrome {...{ width, height }} title={panel.title} description={panel.description}>
        {(innerWidth, innerHeight) => <Content {...{ panel, range }} width={innerWidth} height={innerHeight} />}
      </PanelChrome>
    </div>
  );
}

function Dashboard({ panels, range, width }: any): any {
  const bottom = Math.max(...panels.map((panel: any) => panel.gridPos.y + panel.gridPos.h));
  const context = { eventsScope: 'global', eventBus: new EventBusSrv(), sync: () => 0 } as any;
  return (
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <PanelContextProvider value={context}>
        <main style={{ position: 'relative', width, height: bottom * (CELL + GAP) }}>
          {panels.map((panel: any) => (
            <Panel key={panel.id} {...{ panel, range }} cell={width / 24} />
          ))}
        </main>
      </PanelContextProvider>
    </ThemeContext.Provider>
  );
}

/** What the test calls. */
(window as any).show = async (dashboard: any): Promise<void> => {
  await initPluginTranslations('limes');
  createRoot(document.getElementById('dashboard')!).render(<Dashboard {...dashboard} width={1600} />);
};
