// Bookflow in Google Sheets and Looker Studio. README.md says how to install it. The key needs the scope analytics only.

var TABLES = ['daily', 'channel', 'source', 'campaign', 'page', 'device', 'country', 'widget', 'service'];
var SHEET_DAYS = 90;
var PAGE_ROWS = 500;

// ---- Reading from Bookflow

/** The rows of a table, of the last days or from one day to another: [{ key, views, bookings, conversionRate }]. */
function readTable(settings, table, period) {
  if (table === 'daily') return readDaily(settings, period);
  var rows = [];
  var cursor = null;
  do {
    var query = Object.assign({ dimension: table, limit: PAGE_ROWS }, period);
    if (cursor !== null) query.cursor = cursor;
    var page = fetchJson(settings, '/analytics/breakdown', query);
    rows = rows.concat(page.data);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return rows;
}

function readDaily(settings, period) {
  var days = period.days || Math.round((Date.now() - Date.parse(period.from)) / 86400000) + 2;
  var analytics = fetchJson(settings, '/analytics', { days: Math.min(Math.max(days, 1), 730) });
  return analytics.daily
    .filter(function (day) {
      return period.days || (day.day >= period.from && day.day <= period.to);
    })
    .map(function (day) {
      var rate = day.views === 0 ? 0 : Math.min(1, day.bookings / day.views);
      return { key: day.day, views: day.views, bookings: day.bookings, conversionRate: rate };
    });
}

function fetchJson(settings, path, query) {
  var search = Object.keys(query)
    .map(function (name) {
      return name + '=' + encodeURIComponent(query[name]);
    })
    .join('&');
  var url = settings.baseUrl.replace(/\/+$/, '') + '/api/v1' + path + (search === '' ? '' : '?' + search);
  var response = UrlFetchApp.fetch(url, {
    headers: { Authorization: 'Bearer ' + settings.key },
    followRedirects: false,
    muteHttpExceptions: true,
  });
  if (response.getResponseCode() === 200) return JSON.parse(response.getContentText());
  throw new Error('Bookflow: ' + readMessage(response));
}

function readMessage(response) {
  try {
    return JSON.parse(response.getContentText()).error.message;
  } catch (_) {
    return 'HTTP ' + response.getResponseCode() + '. Check the address.';
  }
}

function readSettings() {
  var properties = PropertiesService.getUserProperties();
  return { baseUrl: properties.getProperty('bookflow.baseUrl'), key: properties.getProperty('bookflow.key') };
}

function saveSettings(baseUrl, key) {
  var settings = { baseUrl: baseUrl.trim(), key: key.trim() };
  if (!/^https?:\/\//.test(settings.baseUrl)) throw new Error('Enter the address of Bookflow, starting with https://.');
  fetchJson(settings, '/analytics', { days: 1 });
  PropertiesService.getUserProperties().setProperties({
    'bookflow.baseUrl': settings.baseUrl,
    'bookflow.key': settings.key,
  });
}

// ---- Google Sheets

function onOpen() {
  SpreadsheetApp.getUi()
    .createMenu('Bookflow')
    .addItem('Connect…', 'connect')
    .addItem('Refresh now', 'refresh')
    .addItem('Refresh every day', 'refreshEveryDay')
    .addToUi();
}

function connect() {
  var ui = SpreadsheetApp.getUi();
  var address = ui.prompt('Bookflow', 'Address, for example https://bookings.example.com', ui.ButtonSet.OK_CANCEL);
  if (address.getSelectedButton() !== ui.Button.OK) return;
  var key = ui.prompt('Bookflow', 'API key with the scope analytics', ui.ButtonSet.OK_CANCEL);
  if (key.getSelectedButton() !== ui.Button.OK) return;
  saveSettings(address.getResponseText(), key.getResponseText());
  refresh();
}

/** Writes one sheet per table, with the last 90 days. Other sheets stay as they are. */
function refresh() {
  var settings = readSettings();
  if (!settings.key) throw new Error('Choose Bookflow > Connect… first.');
  TABLES.forEach(function (table) {
    var rows = readTable(settings, table, { days: SHEET_DAYS }).map(function (row) {
      return [row.key, row.views, row.bookings, row.conversionRate];
    });
    writeSheet('Bookflow ' + table, [[table === 'daily' ? 'day' : table, 'views', 'bookings', 'conversionRate']].concat(rows));
  });
}

function refreshEveryDay() {
  ScriptApp.getProjectTriggers().forEach(function (trigger) {
    if (trigger.getHandlerFunction() === 'refresh') ScriptApp.deleteTrigger(trigger);
  });
  ScriptApp.newTrigger('refresh').timeBased().everyDays(1).atHour(5).create();
}

/** A campaign's name comes from a link that anyone can make, so it must never run as a formula. */
function writeSheet(name, rows) {
  var spreadsheet = SpreadsheetApp.getActiveSpreadsheet();
  var sheet = spreadsheet.getSheetByName(name) || spreadsheet.insertSheet(name);
  var safe = rows.map(function (row) {
    return row.map(function (value) {
      return typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? "'" + value : value;
    });
  });
  sheet.clearContents();
  sheet.getRange(1, 1, safe.length, safe[0].length).setValues(safe);
}

// ---- Looker Studio

function getAuthType() {
  return { type: 'PATH_KEY' };
}

/** Looker Studio asks for another key when this one no longer works. */
function isAuthValid() {
  try {
    fetchJson(readSettings(), '/analytics', { days: 1 });
    return true;
  } catch (_) {
    return false;
  }
}

function resetAuth() {
  PropertiesService.getUserProperties().deleteAllProperties();
}

/** The path is the address of Bookflow. */
function setCredentials(request) {
  try {
    saveSettings(request.pathKey.path, request.pathKey.key);
    return { errorCode: 'NONE' };
  } catch (_) {
    return { errorCode: 'INVALID_CREDENTIALS' };
  }
}

function isAdminUser() {
  return false;
}

function getConfig() {
  return {
    configParams: [
      {
        name: 'table',
        type: 'SELECT_SINGLE',
        displayName: 'Table',
        helpText: 'One source has one table. Add another source for the next one.',
        options: TABLES.map(function (table) {
          return { label: table, value: table };
        }),
      },
    ],
    dateRangeRequired: true,
  };
}

function getSchema(request) {
  return { schema: toSchema(toTable(request)) };
}

function toTable(request) {
  return (request.configParams && request.configParams.table) || 'daily';
}

function toSchema(table) {
  var isDaily = table === 'daily';
  var key = isDaily ? 'day' : table;
  var semantics = { conceptType: 'DIMENSION', semanticType: isDaily ? 'YEAR_MONTH_DAY' : 'TEXT' };
  var count = { conceptType: 'METRIC', isReaggregatable: true };
  return [
    { name: key, label: key, dataType: 'STRING', semantics: semantics },
    { name: 'views', label: 'Views', dataType: 'NUMBER', defaultAggregationType: 'SUM', semantics: count },
    { name: 'bookings', label: 'Bookings', dataType: 'NUMBER', defaultAggregationType: 'SUM', semantics: count },
  ];
}

function getData(request) {
  var table = toTable(request);
  var all = toSchema(table);
  var fields = request.fields.map(function (field) {
    return all.filter(function (each) {
      return each.name === field.name;
    })[0];
  });
  var rows = [];
  try {
    rows = readTable(readSettings(), table, { from: request.dateRange.startDate, to: request.dateRange.endDate });
  } catch (error) {
    DataStudioApp.createCommunityConnector().newUserError().setText(error.message).throwException();
  }
  return {
    schema: fields,
    rows: rows.map(function (row) {
      return {
        values: fields.map(function (field) {
          if (field.name === 'views' || field.name === 'bookings') return row[field.name];
          return table === 'daily' ? row.key.replace(/-/g, '') : row.key;
        }),
      };
    }),
  };
}
